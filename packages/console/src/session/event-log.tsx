import { Button, Group, ScrollArea, Stack, Text } from '@mantine/core'
import type { RobotLogLevel, SessionLogEvent } from '@wheelhouse/protocol'
import { Fragment, memo, type ReactNode, useMemo, useState } from 'react'
import { Problem } from '../base/states.tsx'
import { useTicker } from '../base/time.tsx'
import { useMe } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel, StateShape } from '../status/state-label.tsx'
import { language, t } from '../texts/texts.ts'
import { eventShape, eventText, participantsOf, type SessionParticipants } from './event-texts.ts'
import { useSession } from './session-query.ts'

/** Limits the rendered rows, so that a new entry in a long log does not delay driving. */
const ROWS_PER_STEP = 200
const DAY_CHECK_MS = 60_000

const clock = new Intl.DateTimeFormat(language, { timeStyle: 'medium' })
const calendar = new Intl.DateTimeFormat(language, {
  weekday: 'short',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
})

/** Lists the events of a session with their log numbers, newest first. */
export function EventLog({ live }: { live: LiveSession }) {
  const { id: meId } = useMe()
  const session = useSession(live.room.sessionId).data
  const participants = useMemo(() => participantsOf(session, meId), [session, meId])
  const [shown, setShown] = useState(ROWS_PER_STEP)
  const { events, caughtUp, error } = live
  if (error) return <Problem error={error} />
  const older = events.length - shown
  return (
    <LogList
      label={t('session.log.label')}
      maxHeight={360}
      lines={<Entries events={events.slice(-shown).reverse()} participants={participants} />}
    >
      {older > 0 && (
        <Button variant="default" size="xs" onClick={() => setShown((count) => count + ROWS_PER_STEP)}>
          {t('session.log.older', { entries: older })}
        </Button>
      )}
      {!caughtUp && <Text c="dimmed">{t('common.loading')}</Text>}
      {caughtUp && events.length === 0 && <Text c="dimmed">{t('session.log.empty')}</Text>}
    </LogList>
  )
}

/** Groups the entries by day, unless all are from today. */
function Entries(props: { events: readonly SessionLogEvent[]; participants: SessionParticipants }) {
  const { events, participants } = props
  useTicker(DAY_CHECK_MS)
  const days = events.map(({ at }) => calendar.format(new Date(at)))
  const today = calendar.format(new Date())
  const dated = days.some((day) => day !== today)
  return events.map((event, index) => (
    <Fragment key={event.seq}>
      {dated && days[index] !== days[index - 1] && (
        <Text component="li" size="sm" fw={600}>
          {days[index]}
        </Text>
      )}
      <Entry event={event} participants={participants} />
    </Fragment>
  ))
}

const Entry = memo((props: { event: SessionLogEvent; participants: SessionParticipants }) => {
  const { seq, at, type } = props.event
  return (
    <LogLine
      seq={seq}
      time={
        <>
          {seq} · <time dateTime={at}>{clock.format(new Date(at))}</time>
        </>
      }
      state={<StateShape name={eventShape(type)} />}
    >
      {eventText(props.event, props.participants)}
    </LogLine>
  )
})

export const LogList = (props: {
  label: string
  maxHeight: number
  lines: ReactNode
  children?: ReactNode
}) => (
  <ScrollArea.Autosize
    mah={props.maxHeight}
    viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': props.label }}
  >
    <Stack gap={4} component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
      {props.lines}
    </Stack>
    {props.children}
  </ScrollArea.Autosize>
)

export const LogLine = (props: {
  seq?: number
  time: ReactNode
  state: ReactNode
  isCode?: boolean
  children: string
}) => (
  <Group component="li" data-seq={props.seq} gap="xs" wrap="nowrap" align="baseline">
    <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
      {props.time}
    </Text>
    {props.state}
    <Text size="sm" style={{ overflowWrap: 'anywhere' }} translate={props.isCode ? 'no' : undefined}>
      {props.children}
    </Text>
  </Group>
)

const levels: Record<RobotLogLevel, readonly [string, ShapeName]> = {
  debug: [t('robots.logLevels.debug'), 'off'],
  info: [t('robots.logLevels.info'), 'request'],
  warn: [t('robots.logLevels.warn'), 'delayed'],
  error: [t('robots.logLevels.error'), 'blind'],
}

export function LevelLabel({ level }: { level: RobotLogLevel }) {
  const [label, shape] = levels[level]
  return <StateLabel shape={shape}>{label}</StateLabel>
}

const format = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' })

export const lineTime = (at: string | number): string => format.format(new Date(at))
