import { useEffect, useState, useSyncExternalStore } from 'react'
import { useConnection } from '../../platform/use-live.ts'
import { useReadAges } from '../../video/video-view.tsx'
import type { VideoWatch } from '../../video/watch-video.ts'
import { FreshnessBadge } from '../freshness-badge.tsx'
import type { ReadAges } from '../freshness-sampler.ts'
import type { LinkAges } from '../link-ages.ts'
import { useFreshness } from '../use-freshness.ts'
import { type LiveRobot, useLastHeartbeat } from '../use-live-robots.ts'
import type { FleetStop } from './fleet-stop.ts'
import { createHeartbeatAge } from './heartbeat-age.ts'
import { LiveTileView } from './live-tile-view.tsx'
import type { PictureSlots } from './picture-slots.ts'
import { TilePicture } from './tile-picture.tsx'

interface Props {
  readonly robot: LiveRobot
  readonly slots: PictureSlots
  readonly fleetStop: FleetStop
}

/** Shows one live robot. Its freshness is the age of the picture, or of a heartbeat that is late. */
export function LiveTile({ robot, slots, fleetStop }: Props) {
  const sessionId = robot.session?.id
  const heartbeatAt = useLastHeartbeat(robot)
  const readLinkAges = useHeartbeatAges(heartbeatAt)
  const [watch, setWatch] = useState<VideoWatch>()
  const readAges = useReadAges(watch, readLinkAges)
  const stopResult = useSyncExternalStore(fleetStop.results.subscribe, () =>
    sessionId === undefined ? undefined : fleetStop.results.get().get(sessionId),
  )
  const isUnknown = useConnection() !== 'live'
  return (
    <LiveTileView
      robot={robot}
      isUnknown={isUnknown}
      heartbeatAt={heartbeatAt}
      picture={<TilePicture robot={robot} slots={slots} readLinkAges={readLinkAges} onWatch={setWatch} />}
      freshness={<Freshness readAges={readAges} />}
      stopResult={stopResult}
      onStop={() => sessionId !== undefined && fleetStop.stop([{ sessionId, robotName: robot.name }])}
    />
  )
}

const Freshness = ({ readAges }: { readAges: ReadAges }) => (
  <FreshnessBadge freshness={useFreshness(readAges)} />
)

/** Returns a function that returns the age of the newest heartbeat, stable between renders. */
function useHeartbeatAges(at: string | null): () => LinkAges {
  const [heartbeats] = useState(() => createHeartbeatAge(at))
  useEffect(() => heartbeats.note(at), [heartbeats, at])
  return heartbeats.ages
}
