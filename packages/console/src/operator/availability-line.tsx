import { Text } from '@mantine/core'
import { unavailableTexts } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import { dateTime } from '../ui/format.ts'
import { Problem } from '../ui/states.tsx'
import { type Availability, useAvailability } from './queries.ts'

/** States whether the operator is available, followed by `children`. */
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
  if (available) return 'You are available.'
  const opens = next ? ` Your next hours start on ${dateTime(next)}.` : ''
  if (reason === null) return `You are not available.${opens}`
  return `${unavailableTexts[reason]}${reason === 'outside_schedule' ? opens : ''}`
}
