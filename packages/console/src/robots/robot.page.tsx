import { Anchor } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Fact, Facts } from '../ui/facts.tsx'
import { Found } from '../ui/found.tsx'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { percent } from '../ui/percent.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { webAddress } from '../ui/web-address.ts'
import { DeleteRobot } from './delete-robot.tsx'
import { OpenSession } from './open-session.tsx'
import { RobotHold } from './robot-hold.tsx'
import { RobotLogs } from './robot-logs.tsx'
import { RobotSessions } from './robot-sessions.tsx'
import { RobotSettingsForm } from './robot-settings-form.tsx'
import { HeartbeatAge, RobotStatusBadge, StalenessNote } from './robot-status.tsx'
import { RobotToken } from './robot-token.tsx'
import { type RobotDetail, useLiveRobots, useRobot } from './use-robots.ts'

/** One robot: how it is, what it has logged, its settings, its token, its sessions. */
export function RobotPage() {
  const { robotId } = useParams({ from: '/shell/robots/$robotId' })
  const query = useRobot(robotId)
  const asOfNow = useLiveRobots()
  return (
    <Found query={query} kind="Robot" back={<LinkButton to="/robots">All robots</LinkButton>}>
      {(robot) => (
        // Another robot is another page: nothing that was typed or shown goes over.
        <Page key={robot.id} title={robot.name} actions={<RobotStatusBadge status={asOfNow(robot).status} />}>
          <StalenessNote asOfMs={query.dataUpdatedAt} />
          <RobotHold robot={robot} />
          <Details robot={asOfNow(robot)} />
          {asOfNow(robot).status === 'IN_SESSION' && <OpenSession robot={robot} />}
          <Section title="Logs">
            <RobotLogs robotId={robot.id} />
          </Section>
          <Section title="Settings">
            <RobotSettingsForm robot={robot} />
          </Section>
          <Section title="Sessions">
            <RobotSessions robot={robot} />
          </Section>
          <Section title="Token">
            <RobotToken robot={robot} />
          </Section>
          <Section title="Remove">
            <DeleteRobot robot={robot} />
          </Section>
        </Page>
      )}
    </Found>
  )
}

const Details = ({ robot }: { robot: RobotDetail }) => (
  <Facts cols={{ base: 1, xs: 2, md: 3 }}>
    <Fact label="Last heartbeat">
      <HeartbeatAge at={robot.last_heartbeat} />
    </Fact>
    <Fact label="Battery">
      <Battery robot={robot} />
    </Fact>
    <Fact label="Last online">{robot.last_online ? <Time at={robot.last_online} /> : 'never'}</Fact>
    <Fact label="Hours in sessions">{robot.total_hours.toFixed(1)}</Fact>
    <Fact label="Type">{robot.robot_type}</Fact>
    <Fact label="Hardware id">{robot.hardware_id}</Fact>
    <Fact label="Registered">
      <Time at={robot.created_at} exact />
    </Fact>
    <Fact label="Control URL">{robot.control_url}</Fact>
    <Fact label="Video">
      <Video url={robot.stream_url} />
    </Fact>
  </Facts>
)

function Battery({ robot: { battery, battery_at: at } }: { robot: RobotDetail }) {
  if (battery === null || at === null) return 'not reported'
  return (
    <>
      {percent(battery)}, <Time at={at} />
    </>
  )
}

function Video({ url }: { url: string }) {
  if (url === '') return 'none'
  const address = webAddress(url)
  if (!address) return url
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" inherit>
      {url}
    </Anchor>
  )
}
