import { Button, Text } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { useEffect, useSyncExternalStore } from 'react'
import { videoUrl } from '../../video/video-url.ts'
import { VideoView } from '../../video/video-view.tsx'
import type { VideoWatch } from '../../video/watch-video.ts'
import type { LinkAges } from '../link-ages.ts'
import type { LiveRobot } from '../use-live-robots.ts'
import type { PictureSlots } from './picture-slots.ts'
import styles from './wall.module.css'

interface Props {
  readonly robot: LiveRobot
  readonly slots: PictureSlots
  /** Returns the age of what else the page knows of the robot; stable between renders. */
  readonly readLinkAges: () => LinkAges
  /** Receives the viewer of the shown picture. Stable between renders. */
  readonly onWatch: (watch: VideoWatch | undefined) => void
}

/** Shows the robot's picture while the tile is visible and there is a free slot. */
export function TilePicture({ robot, slots, readLinkAges, onWatch }: Props) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { id, stream_url } = robot
  const origin = originOf(stream_url)
  useEffect(() => {
    if (!inViewport || origin === undefined) return
    slots.request(id, origin)
    return () => slots.release(id)
  }, [slots, id, origin, inViewport])
  const shown = useSyncExternalStore(slots.shown.subscribe, () => slots.shown.get().has(id))
  return (
    <div ref={ref} className={styles.picture}>
      {shown ? (
        <VideoView
          url={stream_url}
          title={`Camera of ${robot.name}`}
          readLinkAges={readLinkAges}
          onWatch={onWatch}
        />
      ) : (
        <div className={styles.placeholder}>
          {origin === undefined ? (
            <Text size="sm">No camera</Text>
          ) : (
            inViewport && (
              <>
                <Text size="sm">Too many pictures at once</Text>
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => slots.prefer(id)}
                  aria-label={`Show the picture of ${robot.name}`}
                >
                  Show picture
                </Button>
              </>
            )
          )}
        </div>
      )}
    </div>
  )
}

/** Returns the origin of a video, undefined without a video that a browser can play. */
function originOf(streamUrl: string): string | undefined {
  const address = streamUrl === '' ? undefined : videoUrl(streamUrl)
  return address === undefined ? undefined : URL.parse(address, location.href)?.origin
}
