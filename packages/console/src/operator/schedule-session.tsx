import { Alert, Button, Group, Modal, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { DialogButtons, Form } from '../base/form.tsx'
import { dateTime, relative, viewerZone } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Problem } from '../base/states.tsx'
import { t } from '../texts/texts.ts'
import { useScheduleSession } from './idempotent-mutation.ts'
import type { AvailableRobot } from './queries.ts'

const DAY_MS = 86_400_000

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** Returns an instant as a `datetime-local` field shows it in the viewer's zone: `2026-11-25T10:30`. */
function toWallTime(at: Date): string {
  const date = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`
  return `${date}T${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`
}

/**
 * Returns the instants of a local time in the viewer's zone: usually one, none if clocks skip that time, two (the
 * earlier first) if it occurs twice.
 */
function instantsOf(wall: string): Date[] {
  const parts = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(wall)?.slice(1).map(Number)
  if (!parts) return []
  const [year, month, day, hour, minute] = parts as [number, number, number, number, number]
  const utcMs = Date.UTC(year, month - 1, day, hour, minute)
  const offsets = [-DAY_MS, DAY_MS].map((ms) => new Date(utcMs + ms).getTimezoneOffset())
  return [...new Set(offsets)]
    .map((offset) => new Date(utcMs + offset * 60_000))
    .filter((at) => toWallTime(at) === wall.slice(0, 16))
    .sort((a, b) => a.getTime() - b.getTime())
}

/** Returns the offset of the viewer's zone at an instant: `UTC+01:00`. */
function offsetAt(at: Date): string {
  const minutes = -at.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`
}

const HOUR_MS = 3_600_000
/** How far ahead the platform accepts scheduled sessions. */
const MAX_AHEAD_DAYS = 90
const MAX_AHEAD_MS = MAX_AHEAD_DAYS * 24 * HOUR_MS
const MAX_MINUTES = 1_440

/** Schedules a session at a local time of the viewer. */
export default function ScheduleSession({ robot, onClose }: { robot: AvailableRobot; onClose: () => void }) {
  const [wall, setWall] = useState(() => toWallTime(nextFullHour()))
  const [later, setLater] = useState(false)
  const [minutes, setMinutes] = useState<number | string>(60)
  const schedule = useScheduleSession()
  const instants = instantsOf(wall)
  const at = instants.length > 1 && later ? instants[1] : instants[0]
  const problem = problemOf(wall, at)
  const plannedMinutes = typeof minutes === 'number' ? minutes : undefined
  const submit = () => {
    if (!at || problem || plannedMinutes === undefined) return
    schedule.mutate({ robotId: robot.id, scheduledFor: at.toISOString(), plannedMinutes })
  }
  return (
    <Modal opened onClose={onClose} title={t('operator.scheduling.title', { robot: robot.name })}>
      {schedule.data && at ? (
        <Scheduled at={at} sessionId={schedule.data.sessionId} onClose={onClose} />
      ) : (
        <Form onSubmit={submit} noValidate>
          <TextInput
            type="datetime-local"
            label={t('operator.scheduling.time')}
            description={t('operator.scheduling.timeNote', { zone: viewerZone(), days: MAX_AHEAD_DAYS })}
            required
            data-autofocus
            min={toWallTime(new Date())}
            max={toWallTime(new Date(Date.now() + MAX_AHEAD_MS))}
            value={wall}
            error={problem}
            onChange={(event) => setWall(event.currentTarget.value)}
          />
          {instants.length > 1 && (
            <AmbiguousTimeChoice instants={instants} later={later} onChange={setLater} />
          )}
          <NumberInput
            label={t('operator.scheduling.duration')}
            description={t('operator.scheduling.durationNote')}
            required
            min={1}
            max={MAX_MINUTES}
            allowDecimal={false}
            value={minutes}
            error={plannedMinutes === undefined ? t('operator.scheduling.noDuration') : undefined}
            onChange={setMinutes}
          />
          <Text size="sm" role="status">
            {at && !problem ? chosenText(at) : ''}
          </Text>
          <Problem error={schedule.error} />
          <DialogButtons onCancel={onClose} loading={schedule.isPending}>
            {t('operator.scheduling.schedule')}
          </DialogButtons>
        </Form>
      )}
    </Modal>
  )
}

const Scheduled = ({ at, sessionId, onClose }: { at: Date; sessionId: string; onClose: () => void }) => (
  <Stack>
    <Alert color="teal" title={t('operator.scheduling.scheduled')} role="status">
      {t('operator.scheduling.scheduledText', { time: dateTime(at) })}
    </Alert>
    <Group justify="flex-end">
      <LinkButton variant="default" to="/sessions/$sessionId" params={{ sessionId }}>
        {t('operator.scheduling.viewSession')}
      </LinkButton>
      <Button onClick={onClose} autoFocus>
        {t('operator.scheduling.done')}
      </Button>
    </Group>
  </Stack>
)

const AmbiguousTimeChoice = (props: {
  instants: readonly Date[]
  later: boolean
  onChange: (later: boolean) => void
}) => (
  <Radio.Group
    label={t('operator.scheduling.twice')}
    value={props.later ? 'later' : 'earlier'}
    onChange={(value) => props.onChange(value === 'later')}
  >
    <Stack gap="xs" mt="xs">
      {props.instants.map((at, index) => (
        <Radio
          key={at.getTime()}
          value={index === 0 ? 'earlier' : 'later'}
          label={
            index === 0
              ? t('operator.scheduling.first', { offset: offsetAt(at) })
              : t('operator.scheduling.second', { offset: offsetAt(at) })
          }
        />
      ))}
    </Stack>
  </Radio.Group>
)

function problemOf(wall: string, at: Date | undefined): string | undefined {
  if (wall === '') return t('operator.scheduling.noTime')
  if (!at) return t('operator.scheduling.skipped')
  const aheadMs = at.getTime() - Date.now()
  if (aheadMs <= 0) return t('operator.scheduling.past')
  if (aheadMs > MAX_AHEAD_MS) return t('operator.scheduling.tooFar', { days: MAX_AHEAD_DAYS })
  return undefined
}

const chosenText = (at: Date): string =>
  t('operator.scheduling.chosen', { time: dateTime(at), offset: offsetAt(at), relative: relative(at) })

const nextFullHour = () => new Date((Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS)
