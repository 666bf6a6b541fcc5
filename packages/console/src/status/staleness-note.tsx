import { Text } from '@mantine/core'
import { Time } from '../base/time.tsx'
import { useConnection } from '../platform/use-live.ts'
import { textParts } from '../texts/text-parts.tsx'

/** Shows the age of the data while the live connection is down. */
export function StalenessNote({ asOfMs }: { asOfMs: number }) {
  const connection = useConnection()
  if (connection === 'live' || connection === 'connecting') return null
  return (
    <Text size="sm" role="status">
      {textParts('robots.status.outdated', { time: <Time at={asOfMs} /> })}
    </Text>
  )
}
