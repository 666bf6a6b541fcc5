import { Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useRobotStatuses } from '../../platform/use-live.ts'
import { PreFlightRecording } from '../../recording/recording-mark.tsx'
import { t } from '../../texts/texts.ts'
import { LinkButton } from '../../ui/links.tsx'
import { Page } from '../../ui/page.tsx'
import { ResourcePage, Section } from '../../ui/section.tsx'
import { ControlSummary } from './control-summary.tsx'
import { InputCheck } from './input-check.tsx'
import { LatencyCheck } from './latency-check.tsx'
import { OwnerNotes, RobotState, Terms } from './robot-sections.tsx'
import { TakeTheWheel } from './take-the-wheel.tsx'
import { type PreFlight, usePreFlight } from './use-pre-flight.ts'

/** Shows a robot before a session: state, notes, latency, terms and controls, and starts the session. */
export function PreFlightPage() {
  const { robotId } = useParams({ from: '/shell/available/$robotId' })
  const query = usePreFlight(robotId)
  const statuses = useRobotStatuses()
  return (
    <ResourcePage
      query={query}
      kind={t('operator.preFlight.kind')}
      back={<LinkButton to="/available">{t('operator.preFlight.back')}</LinkButton>}
    >
      {(robot) => <Checks robot={{ ...robot, status: statuses?.get(robotId)?.status ?? robot.status }} />}
    </ResourcePage>
  )
}

const Checks = ({ robot }: { robot: PreFlight }) => (
  <Page
    title={robot.name}
    description={t('operator.preFlight.description')}
    actions={
      <LinkButton to="/available" variant="default">
        {t('operator.preFlight.back')}
      </LinkButton>
    }
  >
    <Stack>
      <PreFlightRecording robot={robot} />
      <TakeTheWheel robot={robot} />
      <RobotState robot={robot} />
      {robot.may_drive && <OwnerNotes notes={robot.operator_notes} />}
      {robot.gateway_url !== null && (
        <Section title={t('operator.preFlight.latency')}>
          <LatencyCheck gatewayUrl={robot.gateway_url} limitMs={robot.latency_limit_ms} />
        </Section>
      )}
      <Section title={t('operator.preFlight.controls')}>
        <ControlSummary schema={robot.control_schema} />
        <InputCheck robotType={robot.robot_type} />
      </Section>
      <Terms robot={robot} />
    </Stack>
  </Page>
)
