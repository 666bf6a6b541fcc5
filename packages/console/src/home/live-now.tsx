import { Group } from '@mantine/core'
import { useState } from 'react'
import type { LiveRobot } from '../live/live-robots.tsx'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { Empty } from '../ui/states.tsx'
import { useFleetStop } from '../wall/fleet-stop.ts'
import { LiveTile } from '../wall/live-tile.tsx'
import { createPictureSlots } from '../wall/picture-slots.ts'
import { StopResults } from '../wall/stop-all.tsx'
import styles from '../wall/wall.module.css'

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
