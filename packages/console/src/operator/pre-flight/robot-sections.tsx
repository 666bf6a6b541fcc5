import { Text } from '@mantine/core'
import { latencyMs } from '../../drive/figure-texts.ts'
import { RobotStatusBadge } from '../../robots/robot-status.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { money } from '../../ui/format.ts'
import { percent } from '../../ui/percent.ts'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import type { PreFlight } from './use-pre-flight.ts'

const columns = { base: 1, xs: 2, md: 4 }

/** Shows the state of the robot, and its model. There is no picture: operators see the camera in a session only. */
export const RobotState = ({ robot }: { robot: PreFlight }) => (
  <Section title="Robot">
    <DescriptionList cols={columns}>
      <DescriptionItem label="State">
        <RobotStatusBadge status={robot.status} />
      </DescriptionItem>
      <DescriptionItem label="Battery">
        <Battery robot={robot} />
      </DescriptionItem>
      <DescriptionItem label="Last heartbeat">
        {robot.last_heartbeat ? <Time at={robot.last_heartbeat} /> : 'Never connected'}
      </DescriptionItem>
      <DescriptionItem label="Camera">
        {robot.has_camera ? 'Yes. Its picture appears in the cockpit.' : 'None. You drive by the map.'}
      </DescriptionItem>
      <DescriptionItem label="Type">{robot.robot_type}</DescriptionItem>
      {robot.model && <Model model={robot.model} />}
      {robot.tags.length > 0 && <DescriptionItem label="Tags">{robot.tags.join(' · ')}</DescriptionItem>}
    </DescriptionList>
  </Section>
)

function Battery({ robot: { battery, battery_at } }: { robot: PreFlight }) {
  if (battery === null) return 'Unknown'
  return (
    <>
      {percent(battery)}
      {battery_at && (
        <Text component="span" size="sm" c="dimmed">
          {', '}
          <Time at={battery_at} />
        </Text>
      )}
    </>
  )
}

const Model = ({ model }: { model: NonNullable<PreFlight['model']> }) => (
  <>
    <DescriptionItem label="Model">
      {model.name} by {model.manufacturer}
    </DescriptionItem>
    <DescriptionItem label="Kind">{model.category.replaceAll('_', ' ')}</DescriptionItem>
    <DescriptionItem label="Axes">{model.degrees_of_freedom}</DescriptionItem>
  </>
)

/** Shows the notes of the owner, as plain text. */
export const OwnerNotes = ({ notes }: { notes: string | null }) => (
  <Section title="Notes of the owner" gap="xs">
    <Text c={notes ? undefined : 'dimmed'} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {notes ?? 'No notes.'}
    </Text>
  </Section>
)

/** Shows earnings, certification, ratings by the owner, and the limits under which the robot moves. */
export const Terms = ({ robot }: { robot: PreFlight }) => (
  <Section title="Terms">
    <DescriptionList cols={columns}>
      <DescriptionItem label="Earnings">
        {money(robot.earnings_cents_per_minute)} per started minute
      </DescriptionItem>
      <DescriptionItem label="Certification">{certificationText(robot)}</DescriptionItem>
      <DescriptionItem label="Ratings by this owner">{ratingText(robot)}</DescriptionItem>
      <DescriptionItem label="Latency limit">{latencyMs(robot.latency_limit_ms)}</DescriptionItem>
      <DescriptionItem label="Latency budget">
        {robot.latency_budget_ms === null
          ? 'No limit of the speed'
          : `Slower above ${latencyMs(robot.latency_budget_ms)}`}
      </DescriptionItem>
      <DescriptionItem label="Picture age limit">
        {robot.video_limit_ms === null ? 'No limit' : latencyMs(robot.video_limit_ms)}
      </DescriptionItem>
    </DescriptionList>
  </Section>
)

const certificationTexts = {
  PENDING: 'Required, yours is pending',
  APPROVED: 'Required, you are certified',
  REJECTED: 'Required, yours was rejected',
  REVOKED: 'Required, yours was revoked',
} as const

function certificationText({ certification: { required, status } }: PreFlight): string {
  if (!required) return 'Not required'
  return status === null ? 'Required, you have none' : certificationTexts[status]
}

const ratings = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

const ratingText = ({ owner_rating_average: average, owner_rating_count: count }: PreFlight): string =>
  average === null ? 'None yet' : `${ratings.format(average)} of 5 on average (${count})`
