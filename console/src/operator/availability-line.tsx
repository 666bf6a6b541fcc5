import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { dateTime } from '../ui/format.ts'
import { Problem } from '../ui/states.tsx'
import { type Availability, useAvailability } from './queries.ts'

/** Whether the operator is available just now, as a sentence; what else there is to it follows. */
export function AvailabilityLine({ children }: { children?: ReactNode }) {
  const { data, error, refetch } = useAvailability()
  if (!data) return <Problem error={error} onRetry={() => void refetch()} />
  return (
    <Text role="status">
      {sentenceOf(data)} {children}
    </Text>
  )
}

function sentenceOf({ available, reason, next_available_at: next }: Availability): string {
  if (available) return 'You are available: your schedule is open and you are online.'
  const opens = next ? ` Your next hours begin on ${dateTime(next)}.` : ''
  switch (reason) {
    case 'in_session':
      return 'You are not available while you are in a session.'
    case 'no_schedule':
      return 'You are not shown as available, because your schedule has no hours yet. You may start all the same.'
    case 'outside_schedule':
      return `It is outside the hours of your schedule; you may start all the same.${opens}`
    case 'offline':
      return 'Your hours are open, but you are not seen as online yet.'
    default:
      return `You are not available.${opens}`
  }
}
