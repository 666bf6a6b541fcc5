import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { dateTime } from '../base/format.ts'
import { Problem } from '../base/states.tsx'
import { unavailableTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
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
  if (available) return t('operator.availability.available')
  const opens = next ? t('operator.availability.nextHours', { time: dateTime(next) }) : ''
  if (reason === null) return sentences(t('operator.availability.notAvailable'), opens)
  return sentences(unavailableTexts[reason], reason === 'outside_schedule' ? opens : '')
}

const sentences = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join(' ')
