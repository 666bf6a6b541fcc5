import { Alert, Button, Group, Modal, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { t } from '../texts/texts.ts'
import { dateTime, relative, viewerZone } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { Problem } from '../ui/states.tsx'
import { instantsOf, offsetAt, toWallTime } from './local-time.ts'
import type { AvailableRobot } from './queries.ts'
import { useScheduleSession } from './use-start.ts'

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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!at || problem || plannedMinutes === undefined) return
    schedule.mutate({ robotId: robot.id, scheduledFor: at.toISOString(), plannedMinutes })
  }
  return (
    <Modal opened onClose={onClose} title={t('operator.scheduling.title', { robot: robot.name })}>
      {schedule.data && at ? (
        <Scheduled at={at} sessionId={schedule.data.sessionId} onClose={onClose} />
      ) : (
        <form onSubmit={submit} noValidate>
          <Stack>
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
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                {t('common.cancel')}
              </Button>
              <Button type="submit" loading={schedule.isPending}>
                {t('operator.scheduling.schedule')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

const Scheduled = ({ at, sessionId, onClose }: { at: Date; sessionId: string; onClose: () => void }) => (
  <Stack>
    <Alert color="teal" variant="outline" title={t('operator.scheduling.scheduled')} role="status">
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

/** Lets the operator choose between the two instants of a local time that occurs twice. */
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
