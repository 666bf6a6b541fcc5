import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useStartNow } from './idempotent-mutation.ts'

const keyOf = (robotId: string) => `wheelhouse-preflight:${robotId}`

/** Returns whether this browser has shown the checks of a robot before a drive. */
function hasPassed(robotId: string): boolean {
  try {
    return localStorage.getItem(keyOf(robotId)) !== null
  } catch {
    return false
  }
}

/** Remembers that an operator has driven off from the checks of a robot. */
export function markPassed(robotId: string): void {
  try {
    localStorage.setItem(keyOf(robotId), '1')
  } catch {
    // Without storage the checks are shown before every drive.
  }
}

/** Returns a start that leads through the checks of a robot before the first drive with it: no drive without a look. */
export function useDriveNow() {
  const start = useStartNow()
  const navigate = useNavigate()
  const { mutate } = start
  const drive = useCallback(
    (robotId: string) => {
      if (hasPassed(robotId)) mutate(robotId)
      else void navigate({ to: '/available/$robotId', params: { robotId } })
    },
    [mutate, navigate],
  )
  return { ...start, drive }
}
