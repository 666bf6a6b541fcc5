import { Group, ScrollArea, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { usePlatform } from '../app/platform.ts'
import { useMe } from '../auth/me.ts'
import type { LiveSession } from '../live/hooks.ts'
import { Problem } from '../ui/states.tsx'
import { type Cast, eventText } from './event-texts.ts'
import { sessionQuery } from './session-query.ts'

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** Everything that happened in a session, newest first, by the log's own numbers. */
export function EventLog({ live }: { live: LiveSession }) {
  const cast = useCast(live)
  const { events, caughtUp, error } = live
  if (error) return <Problem error={error} />
  return (
    <ScrollArea.Autosize mah={360} viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Entries' }}>
      <Stack gap={4} component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
        {events.toReversed().map((event) => (
          <Entry key={event.seq} event={event} cast={cast} />
        ))}
      </Stack>
      {!caughtUp && <Text c="dimmed">Loading</Text>}
      {caughtUp && events.length === 0 && <Text c="dimmed">Nothing has happened yet</Text>}
    </ScrollArea.Autosize>
  )
}

const Entry = ({ event, cast }: { event: SessionLogEvent; cast: Cast }) => (
  <Group component="li" data-seq={event.seq} gap="xs" wrap="nowrap" align="baseline">
    <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
      {event.seq} · <time dateTime={event.at}>{clock.format(new Date(event.at))}</time>
    </Text>
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {eventText(event, cast)}
    </Text>
  </Group>
)

function useCast(live: LiveSession): Cast {
  const { rest } = usePlatform()
  const me = useMe()
  const sessionId = live.room.sessionId
  const { data } = useQuery(sessionQuery(rest, sessionId))
  return {
    meId: me.id,
    operatorId: data?.operator_id,
    operatorName: data?.operator_name,
    clientId: data?.client_id,
  }
}
