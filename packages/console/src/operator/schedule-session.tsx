import { Alert, Button, Group, Modal, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { dateTime, relative, viewerZone } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { Problem } from '../ui/states.tsx'
import { instantsOf, offsetAt, toWallTime } from './local-time.ts'
import type { AvailableRobot } from './queries.ts'
import { useScheduleSession } from './use-start.ts'

const HOUR_MS = 3_600_000
/** How far ahead the platform accepts scheduled sessions. */
const MAX_AHEAD_MS = 90 * 24 * HOUR_MS
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
    <Modal opened onClose={onClose} title={`Schedule a session with ${robot.name}`}>
      {schedule.data && at ? (
        <Scheduled at={at} sessionId={schedule.data.sessionId} onClose={onClose} />
      ) : (
        <form onSubmit={submit} noValidate>
          <Stack>
            <TextInput
              type="datetime-local"
              label="Date and time"
              description={`In your time zone, ${viewerZone()}. Up to 90 days ahead.`}
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
              label="Duration in minutes"
              description="Reserves the robot for this time."
              required
              min={1}
              max={MAX_MINUTES}
              allowDecimal={false}
              value={minutes}
              error={plannedMinutes === undefined ? 'Enter a duration' : undefined}
              onChange={setMinutes}
            />
            <Text size="sm" role="status">
              {at && !problem ? `${dateTime(at)} (${offsetAt(at)}), ${relative(at)}` : ''}
            </Text>
            <Problem error={schedule.error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={schedule.isPending}>
                Schedule
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
    <Alert color="teal" variant="outline" title="Session scheduled" role="status">
      It starts automatically on {dateTime(at)} if you and the robot are available. The owner is notified.
    </Alert>
    <Group justify="flex-end">
      <LinkButton variant="default" to="/sessions/$sessionId" params={{ sessionId }}>
        View session
      </LinkButton>
      <Button onClick={onClose} autoFocus>
        Done
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
    label="This time occurs twice (clocks go back)"
    value={props.later ? 'later' : 'earlier'}
    onChange={(value) => props.onChange(value === 'later')}
  >
    <Stack gap="xs" mt="xs">
      {props.instants.map((at, index) => (
        <Radio
          key={at.getTime()}
          value={index === 0 ? 'earlier' : 'later'}
          label={`${index === 0 ? 'The first time' : 'The second time'} (${offsetAt(at)})`}
        />
      ))}
    </Stack>
  </Radio.Group>
)

function problemOf(wall: string, at: Date | undefined): string | undefined {
  if (wall === '') return 'Enter a date and time'
  if (!at) return 'This time does not exist in your time zone (clocks go forward)'
  const aheadMs = at.getTime() - Date.now()
  if (aheadMs <= 0) return 'This time is in the past'
  if (aheadMs > MAX_AHEAD_MS) return 'This is more than 90 days ahead'
  return undefined
}

const nextFullHour = () => new Date((Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS)
