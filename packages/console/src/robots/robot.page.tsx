import { Anchor } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { DescriptionItem, DescriptionList } from '../ui/description-list.tsx'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { percent } from '../ui/percent.ts'
import { ResourcePage } from '../ui/resource-page.tsx'
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

/** Shows one robot: status, logs, settings, sessions and token. */
export function RobotPage() {
  const { robotId } = useParams({ from: '/shell/robots/$robotId' })
  const query = useRobot(robotId)
  const withLiveStatus = useLiveRobots()
  return (
    <ResourcePage query={query} kind="Robot" back={<LinkButton to="/robots">All robots</LinkButton>}>
      {(robot) => (
        // The key resets all typed and shown values for another robot.
        <Page
          key={robot.id}
          title={robot.name}
          actions={<RobotStatusBadge status={withLiveStatus(robot).status} />}
        >
          <StalenessNote asOfMs={query.dataUpdatedAt} />
          <RobotHold robot={robot} />
          <Details robot={withLiveStatus(robot)} />
          {withLiveStatus(robot).status === 'IN_SESSION' && <OpenSession robot={robot} />}
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
    </ResourcePage>
  )
}

const Details = ({ robot }: { robot: RobotDetail }) => (
  <DescriptionList cols={{ base: 1, xs: 2, md: 3 }}>
    <DescriptionItem label="Last heartbeat">
      <HeartbeatAge at={robot.last_heartbeat} />
    </DescriptionItem>
    <DescriptionItem label="Battery">
      <Battery robot={robot} />
    </DescriptionItem>
    <DescriptionItem label="Last online">
      {robot.last_online ? <Time at={robot.last_online} /> : 'never'}
    </DescriptionItem>
    <DescriptionItem label="Drive time">{robot.total_hours.toFixed(1)} h</DescriptionItem>
    <DescriptionItem label="Type">{robot.robot_type}</DescriptionItem>
    <DescriptionItem label="Hardware ID">{robot.hardware_id}</DescriptionItem>
    <DescriptionItem label="Registered">
      <Time at={robot.created_at} exact />
    </DescriptionItem>
    <DescriptionItem label="Control URL">{robot.control_url}</DescriptionItem>
    <DescriptionItem label="Video">
      <Video url={robot.stream_url} />
    </DescriptionItem>
  </DescriptionList>
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
