import { Text } from '@mantine/core'
import { useState } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { StalenessNote } from '../robots/robot-status.tsx'
import { type LiveRobot, useLiveRobotList } from '../status/live-robots.tsx'
import { type StopTarget, useFleetStop } from '../stop/fleet-stop.ts'
import { StopAllButton, StopResults } from '../stop/stop-all.tsx'
import { language, t } from '../texts/texts.ts'
import { LiveTile } from './live-tile.tsx'
import { createPictureSlots } from './picture-slots.ts'
import styles from './wall.module.css'

/** Shows all live robots of the owner as tiles, each with a stop, and a stop for all of them. */
export function WallPage() {
  const query = useLiveRobotList()
  const fleetStop = useFleetStop()
  const [slots] = useState(createPictureSlots)
  const robots = query.data?.robots ?? []
  return (
    <Page
      title={t('live.page.title')}
      description={t('live.page.description')}
      actions={<StopAllButton targets={stopTargets(robots)} fleetStop={fleetStop} />}
    >
      {query.data && <StalenessNote asOfMs={query.dataUpdatedAt} />}
      <StopResults fleetStop={fleetStop} />
      <QueryView
        query={query}
        isEmpty={({ total }) => total === 0}
        empty={
          <Empty
            title={t('live.page.emptyTitle')}
            action={<LinkButton to="/robots">{t('live.page.allRobots')}</LinkButton>}
          >
            {t('live.page.emptyText')}
          </Empty>
        }
      >
        {({ robots, total }) => (
          <>
            {total > robots.length && (
              <Text size="sm">{t('live.page.notAll', { shown: robots.length, total })}</Text>
            )}
            <ul className={styles.wall} aria-label={t('live.page.label')}>
              {[...robots].sort(byName).map((robot) => (
                <LiveTile key={robot.id} robot={robot} slots={slots} fleetStop={fleetStop} />
              ))}
            </ul>
          </>
        )}
      </QueryView>
    </Page>
  )
}

/** Returns the stops of all robots in a session. */
const stopTargets = (robots: readonly LiveRobot[]): StopTarget[] =>
  robots.flatMap(({ name, session }) => (session ? [{ sessionId: session.id, robotName: name }] : []))

const collator = new Intl.Collator(language, { numeric: true })
/** Orders by name, so that no tile moves under the pointer when its robot changes. */
const byName = (a: LiveRobot, b: LiveRobot) => collator.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)
