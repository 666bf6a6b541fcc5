import { Text } from '@mantine/core'
import { latencyMs } from '../../drive/figure-texts.ts'
import { recordingModeOf } from '../../recording/recording-mark.tsx'
import { recordedLabel } from '../../recording/recording-texts.ts'
import { RobotStatusBadge } from '../../robots/robot-status.tsx'
import { percent } from '../../texts/percent.ts'
import { language, t } from '../../texts/texts.ts'
import { DescriptionItem, DescriptionList } from '../../ui/data-table.tsx'
import { money } from '../../ui/format.ts'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import type { PreFlight } from './use-pre-flight.ts'

const columns = { base: 1, xs: 2, md: 4 }

/** Shows the state of the robot, and its model. There is no picture: operators see the camera in a session only. */
export const RobotState = ({ robot }: { robot: PreFlight }) => (
  <Section title={t('operator.robot.title')}>
    <DescriptionList cols={columns}>
      <DescriptionItem label={t('operator.robot.state')}>
        <RobotStatusBadge status={robot.status} />
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.battery')}>
        <Battery robot={robot} />
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.lastHeartbeat')}>
        {robot.last_heartbeat ? <Time at={robot.last_heartbeat} /> : t('operator.robot.neverConnected')}
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.camera')}>
        {robot.has_camera ? t('operator.robot.hasCamera') : t('operator.robot.noCamera')}
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.type')}>{robot.robot_type}</DescriptionItem>
      {robot.model && <Model model={robot.model} />}
      {robot.tags.length > 0 && (
        <DescriptionItem label={t('operator.robot.tags')}>{robot.tags.join(' · ')}</DescriptionItem>
      )}
    </DescriptionList>
  </Section>
)

function Battery({ robot: { battery, battery_at } }: { robot: PreFlight }) {
  if (battery === null) return t('operator.robot.batteryUnknown')
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

const categoryTexts = {
  arm: t('operator.category.arm'),
  bimanual: t('operator.category.bimanual'),
  mobile_manipulator: t('operator.category.mobileManipulator'),
  mobile_base: t('operator.category.mobileBase'),
  quadruped: t('operator.category.quadruped'),
  humanoid: t('operator.category.humanoid'),
} as const

const Model = ({ model }: { model: NonNullable<PreFlight['model']> }) => (
  <>
    <DescriptionItem label={t('operator.robot.model')}>
      {t('operator.model.name', { name: model.name, manufacturer: model.manufacturer })}
    </DescriptionItem>
    <DescriptionItem label={t('operator.robot.kind')}>{categoryTexts[model.category]}</DescriptionItem>
    <DescriptionItem label={t('operator.robot.axes')}>{model.degrees_of_freedom}</DescriptionItem>
  </>
)

/** Shows the notes of the owner, as plain text. */
export const OwnerNotes = ({ notes }: { notes: string | null }) => (
  <Section title={t('operator.robot.notes')} gap="xs">
    <Text c={notes ? undefined : 'dimmed'} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {notes ?? t('operator.robot.noNotes')}
    </Text>
  </Section>
)

/** Shows earnings, certification, ratings by the owner, and the limits under which the robot moves. */
export const Terms = ({ robot }: { robot: PreFlight }) => (
  <Section title={t('operator.terms.title')}>
    <DescriptionList cols={columns}>
      <DescriptionItem label={t('operator.terms.earnings')}>
        {t('operator.terms.perMinute', { amount: money(robot.earnings_cents_per_minute) })}
      </DescriptionItem>
      <DescriptionItem label={t('operator.terms.certification')}>{certificationText(robot)}</DescriptionItem>
      <DescriptionItem label={t('operator.terms.ratings')}>{ratingText(robot)}</DescriptionItem>
      <Recorded robot={robot} />
      <DescriptionItem label={t('operator.terms.latencyLimit')}>
        {latencyMs(robot.latency_limit_ms)}
      </DescriptionItem>
      <DescriptionItem label={t('operator.terms.latencyBudget')}>
        {robot.latency_budget_ms === null
          ? t('operator.terms.noBudget')
          : t('operator.terms.budget', { latency: latencyMs(robot.latency_budget_ms) })}
      </DescriptionItem>
      <DescriptionItem label={t('operator.terms.pictureAge')}>
        {robot.video_limit_ms === null ? t('operator.terms.noLimit') : latencyMs(robot.video_limit_ms)}
      </DescriptionItem>
    </DescriptionList>
  </Section>
)

/** Says what of a session is recorded. */
function Recorded({ robot }: { robot: PreFlight }) {
  const mode = recordingModeOf(robot)
  return (
    mode && <DescriptionItem label={t('operator.terms.recording')}>{recordedLabel(mode)}</DescriptionItem>
  )
}

const certificationTexts = {
  PENDING: t('operator.terms.requiredPending'),
  APPROVED: t('operator.terms.requiredApproved'),
  REJECTED: t('operator.terms.requiredRejected'),
  REVOKED: t('operator.terms.requiredRevoked'),
} as const

function certificationText({ certification: { required, status } }: PreFlight): string {
  if (!required) return t('operator.terms.notRequired')
  return status === null ? t('operator.terms.requiredNone') : certificationTexts[status]
}

const ratings = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })

const ratingText = ({ owner_rating_average: average, owner_rating_count: count }: PreFlight): string =>
  average === null
    ? t('operator.terms.noRatings')
    : t('operator.terms.rating', { average: ratings.format(average), ratings: count })
