import { Alert, Button, Group, Modal, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { dateTime, relative, viewerZone } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { Problem } from '../ui/states.tsx'
import { instantsOf, offsetAt, toWallTime } from './local-time.ts'
import type { AvailableRobot } from './queries.ts'
import { usePlan } from './use-start.ts'

const HOUR_MS = 3_600_000
/** As far ahead as the platform takes plans. */
const MAX_AHEAD_MS = 90 * 24 * HOUR_MS
const MAX_MINUTES = 1_440

/** Plans a session for a time by the viewer's clocks. */
export default function PlanSession({ robot, onClose }: { robot: AvailableRobot; onClose: () => void }) {
  const [wall, setWall] = useState(() => toWallTime(nextFullHour()))
  const [later, setLater] = useState(false)
  const [minutes, setMinutes] = useState<number | string>(60)
  const plan = usePlan()
  const instants = instantsOf(wall)
  const at = instants.length > 1 && later ? instants[1] : instants[0]
  const problem = problemOf(wall, at)
  const plannedMinutes = typeof minutes === 'number' ? minutes : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!at || problem || plannedMinutes === undefined) return
    plan.mutate({ robotId: robot.id, scheduledFor: at.toISOString(), plannedMinutes })
  }
  return (
    <Modal opened onClose={onClose} title={`Plan a session with ${robot.name}`}>
      {plan.data && at ? (
        <Planned at={at} sessionId={plan.data.sessionId} onClose={onClose} />
      ) : (
        <form onSubmit={submit} noValidate>
          <Stack>
            <TextInput
              type="datetime-local"
              label="Date and time"
              description={`In your zone, ${viewerZone()}; up to 90 days ahead`}
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
              label="Minutes"
              description="How long you plan to drive; nobody else can book the robot in this time"
              required
              min={1}
              max={MAX_MINUTES}
              allowDecimal={false}
              value={minutes}
              error={plannedMinutes === undefined ? 'Say how long' : undefined}
              onChange={setMinutes}
            />
            <Text size="sm" role="status">
              {at && !problem ? `${dateTime(at)} (${offsetAt(at)}), ${relative(at)}` : ''}
            </Text>
            <Problem error={plan.error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={plan.isPending}>
                Plan
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

const Planned = ({ at, sessionId, onClose }: { at: Date; sessionId: string; onClose: () => void }) => (
  <Stack>
    <Alert color="teal" variant="outline" title="The session is planned" role="status">
      It starts by itself on {dateTime(at)}, if the robot and you are free then. The owner has been told.
    </Alert>
    <Group justify="flex-end">
      <LinkButton variant="default" to="/sessions/$sessionId" params={{ sessionId }}>
        See the session
      </LinkButton>
      <Button onClick={onClose} autoFocus>
        Done
      </Button>
    </Group>
  </Stack>
)

/** Clocks are put back over this time, so that they show it twice. */
const AmbiguousTimeChoice = (props: {
  instants: readonly Date[]
  later: boolean
  onChange: (later: boolean) => void
}) => (
  <Radio.Group
    label="Clocks are put back then and show this time twice"
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
  if (wall === '') return 'Say when'
  if (!at) return 'Clocks are put forward over this time: it does not exist in your zone'
  const aheadMs = at.getTime() - Date.now()
  if (aheadMs <= 0) return 'This lies in the past'
  if (aheadMs > MAX_AHEAD_MS) return 'This is more than 90 days ahead'
  return undefined
}

const nextFullHour = () => new Date((Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS)
