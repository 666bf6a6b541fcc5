import { Tabs } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type LiveRobot, useLiveRobot } from '../live/live-robots.tsx'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { ResourcePage, Section } from '../ui/section.tsx'
import { DeleteRobot } from './delete-robot.tsx'
import { AccessTab } from './robot/access-tab.tsx'
import { ConnectTab } from './robot/connect-tab.tsx'
import { DataTab } from './robot/data-tab.tsx'
import { HealthTab } from './robot/health-tab.tsx'
import { LiveTab } from './robot/live-tab.tsx'
import { RobotHeader } from './robot/robot-header.tsx'
import { SessionStop } from './robot/session-stop.tsx'
import { RobotHold } from './robot-hold.tsx'
import { RobotSessions } from './robot-sessions.tsx'
import { RobotSettingsForm } from './robot-settings-form.tsx'
import { StalenessNote } from './robot-status.tsx'
import { RobotTab } from './robot-tab.ts'
import { type RobotDetail, useRobot } from './use-robots.ts'

/** Shows one robot: what it does now, its sessions, data, health, access, settings and connection. */
export function RobotPage() {
  const { robotId } = useParams({ from: '/shell/robots/$robotId' })
  const query = useRobot(robotId)
  const live = useLiveRobot(robotId)
  return (
    <ResourcePage
      query={query}
      kind={t('robots.page.kind')}
      back={<LinkButton to="/robots">{t('robots.page.all')}</LinkButton>}
    >
      {(robot) => (
        // The key resets all typed and shown values for another robot.
        <Page
          key={robot.id}
          title={robot.name}
          description={robot.robot_type}
          actions={<RobotHeader robot={robot} live={live} />}
        >
          <StalenessNote asOfMs={query.dataUpdatedAt} />
          <RobotHold robot={robot} />
          <RobotTabs robot={robot} live={live} />
        </Page>
      )}
    </ResourcePage>
  )
}

const labels: Record<RobotTab, string> = {
  live: t('robots.page.live'),
  sessions: t('robots.page.sessions'),
  data: t('robots.page.data'),
  health: t('robots.page.health'),
  access: t('robots.page.access'),
  settings: t('robots.page.settings'),
  connect: t('robots.page.connect'),
}

function RobotTabs({ robot, live }: { robot: RobotDetail; live: LiveRobot | null | undefined }) {
  const { tab = 'live' } = useSearch({ from: '/shell/robots/$robotId' })
  const navigate = useNavigate({ from: '/robots/$robotId' })
  const select = (value: string | null) =>
    void navigate({ search: { tab: RobotTab.safeParse(value).data }, replace: true, resetScroll: false })
  const sessionId = live?.session?.id
  return (
    <>
      <Tabs value={tab} onChange={select} keepMounted={false}>
        <Tabs.List aria-label={t('robots.page.tabs')}>
          {RobotTab.options.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {labels[value]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab} pt="md">
          <TabContent tab={tab} robot={robot} live={live} />
        </Tabs.Panel>
      </Tabs>
      {/* The live tab has its own, which also stops over the gateway. */}
      {sessionId !== undefined && tab !== 'live' && <SessionStop key={sessionId} sessionId={sessionId} />}
    </>
  )
}

function TabContent(props: {
  tab: RobotTab
  robot: RobotDetail
  live: LiveRobot | null | undefined
}): ReactNode {
  const { tab, robot, live } = props
  switch (tab) {
    case 'live':
      return <LiveTab robot={robot} live={live} />
    case 'sessions':
      return (
        <Section title={t('robots.page.sessions')}>
          <RobotSessions robot={robot} />
        </Section>
      )
    case 'data':
      return <DataTab robot={robot} />
    case 'health':
      return <HealthTab robot={robot} />
    case 'access':
      return <AccessTab robot={robot} />
    case 'settings':
      return (
        <>
          <Section title={t('robots.page.settings')}>
            <RobotSettingsForm robot={robot} />
          </Section>
          <Section title={t('robots.page.remove')}>
            <DeleteRobot robot={robot} />
          </Section>
        </>
      )
    case 'connect':
      return <ConnectTab robot={robot} />
  }
}
