import { SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { Empty, QueryView } from '../ui/states.tsx'
import { AdminPage } from './admin-page.tsx'
import { Freshness } from './freshness.tsx'
import { Gateways } from './gateways.tsx'
import { OpenSessionCard } from './open-session.tsx'
import { type Overview, overviewQuery } from './overview-query.ts'
import { RobotCounts } from './robot-counts.tsx'

/** Shows the state of the platform, with a stop button for every open session. */
export const OverviewPage = () => (
  <AdminPage title={t('admin.overview.title')} description={t('admin.overview.description')}>
    <Live />
  </AdminPage>
)

function Live() {
  const { rest } = usePlatform()
  const query = useQuery(overviewQuery(rest))
  return (
    <>
      <Freshness query={query} />
      <QueryView query={query}>
        {(overview) => (
          <>
            <Section title={t('admin.overview.robots')}>
              <RobotCounts robots={overview.robots} />
            </Section>
            <Section title={t('admin.overview.openSessions')}>
              <OpenSessions sessions={overview.sessions} />
            </Section>
            <Section title={t('admin.overview.gateways')}>
              <Gateways overview={overview} readAtMs={query.dataUpdatedAt} />
            </Section>
          </>
        )}
      </QueryView>
    </>
  )
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Stack component="section" aria-label={title} gap="sm">
    <Title order={2}>{title}</Title>
    {children}
  </Stack>
)

function OpenSessions({ sessions: { total, open } }: { sessions: Overview['sessions'] }) {
  if (open.length === 0) return <Empty title={t('admin.overview.noSessions')} />
  return (
    <>
      {total > open.length && (
        <Text c="dimmed">{t('admin.overview.newest', { shown: open.length, total })}</Text>
      )}
      <SimpleGrid component="ul" cols={{ base: 1, md: 2 }} m={0} p={0} style={{ listStyle: 'none' }}>
        {open.map((session) => (
          <li key={session.id}>
            <OpenSessionCard session={session} />
          </li>
        ))}
      </SimpleGrid>
    </>
  )
}
