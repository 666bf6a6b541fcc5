import { Button, Text } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { publishedCamera } from '../../cameras/use-cameras.ts'
import { t } from '../../texts/texts.ts'
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
  const { id, camera, stream_url } = robot
  const source = useMemo(
    () => (camera === null ? stream_url : publishedCamera(id, camera)),
    [id, camera, stream_url],
  )
  const origin = camera === null ? originOf(stream_url) : WEBRTC
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
          source={source}
          title={t('live.tile.camera', { robot: robot.name })}
          readLinkAges={readLinkAges}
          onWatch={onWatch}
        />
      ) : (
        <div className={styles.placeholder}>
          {origin === undefined ? (
            <Text size="sm">{t('live.tile.noCamera')}</Text>
          ) : (
            inViewport && (
              <>
                <Text size="sm">{t('live.tile.tooManyPictures')}</Text>
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => slots.prefer(id)}
                  aria-label={t('live.tile.showPictureLabel', { robot: robot.name })}
                >
                  {t('live.tile.showPicture')}
                </Button>
              </>
            )
          )}
        </div>
      )}
    </div>
  )
}

/** Video over WebRTC uses no connections of HTTP, and the processor for decoding: it counts as one origin, too. */
const WEBRTC = 'webrtc'

/** Returns the origin of a video, undefined without a video that a browser can play. */
function originOf(streamUrl: string): string | undefined {
  const address = streamUrl === '' ? undefined : videoUrl(streamUrl)
  return address === undefined ? undefined : URL.parse(address, location.href)?.origin
}
