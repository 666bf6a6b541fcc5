import { Button, Kbd, Text } from '@mantine/core'
import { useEffect } from 'react'
import { usePlatform } from '../app/platform.ts'
import { useConnection } from '../live/hooks.ts'
import { messageOf } from '../ui/message-of.ts'
import { useStore } from '../ui/store.ts'
import type { StopControl, StopRequestState } from './stop.ts'
import './stop-bar.css'

/** The stop, always on the screen and on the Escape key, and what has come of pressing it. */
export function StopBar({ stop, inForce }: { stop: StopControl; inForce: string | undefined }) {
  const request = useStore(stop.state)
  const connection = useConnection()
  useStopKey(stop)
  return (
    <section className="stop-bar" aria-label="Emergency stop">
      <Button
        className="stop-button"
        color="red.9"
        size="xl"
        aria-keyshortcuts="Escape"
        aria-label="Stop the robot"
        onClick={() => stop.request()}
      >
        STOP
      </Button>
      <Text size="sm" role="alert" style={{ overflowWrap: 'anywhere' }}>
        {textOf(request, inForce, connection === 'live')}
      </Text>
      <Text size="xs" c="dimmed" visibleFrom="sm">
        or <Kbd>Esc</Kbd>
      </Text>
    </section>
  )
}

function textOf(request: StopRequestState, inForce: string | undefined, live: boolean): string {
  if (request.phase === 'pressed') {
    return live
      ? 'Stop pressed, not confirmed yet'
      : 'Stop pressed, not sent yet: no connection. It goes out as soon as there is one.'
  }
  if (request.phase === 'refused') return `The stop was refused: ${messageOf(request.error)}`
  if (inForce) return inForce
  return request.phase === 'recorded' ? 'The stop is in force' : ''
}

/** Escape stops the robot from anywhere in the page, unless it closes a dialog or a menu. */
function useStopKey(stop: StopControl): void {
  const { session } = usePlatform()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.repeat || event.isComposing) return
      // The dialog that asks to sign in again does not close; the stop must not wait for it.
      const closes = document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null
      if (closes && session.phase.get() !== 'expired') return
      stop.request()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [stop, session])
}
