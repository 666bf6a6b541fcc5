import { Group } from '@mantine/core'
import { useState } from 'react'
import type { LiveRobot } from '../live/use-live-robots.ts'
import { LiveTile } from '../live/wall/live-tile.tsx'
import { createPictureSlots } from '../live/wall/picture-slots.ts'
import { StopResults } from '../live/wall/stop-all.tsx'
import { useFleetStop } from '../live/wall/use-fleet-stop.ts'
import styles from '../live/wall/wall.module.css'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { Empty } from '../ui/states.tsx'

/** Tiles on the home page. The wall shows all. */
const TILES = 6

/** Shows the first live robots, those that need attention first, with a stop for each. */
export function LiveNow({ robots }: { robots: readonly LiveRobot[] }) {
  const fleetStop = useFleetStop()
  const [slots] = useState(createPictureSlots)
  return (
    <Section title={t('home.live.title')}>
      <StopResults fleetStop={fleetStop} />
      {robots.length === 0 ? (
        <Empty title={t('home.live.none')} />
      ) : (
        <>
          <ul className={styles.wall} aria-label={t('home.live.label')}>
            {robots.slice(0, TILES).map((robot) => (
              <LiveTile key={robot.id} robot={robot} slots={slots} fleetStop={fleetStop} />
            ))}
          </ul>
          <Group>
            <LinkButton to="/live" variant="default" size="xs">
              {t('home.live.all')}
            </LinkButton>
          </Group>
        </>
      )}
    </Section>
  )
}
