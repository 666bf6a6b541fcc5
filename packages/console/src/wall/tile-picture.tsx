import { Button, Text } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { type RefObject, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useStore } from '../base/store.ts'
import type { LiveRobot } from '../status/live-robots.tsx'
import { t } from '../texts/texts.ts'
import { publishedCamera } from '../video/use-cameras.ts'
import { type VideoSource, type VideoWatch, videoUrl, watchVideo } from '../video/watch-video.ts'
import type { PictureSlots } from './picture-slots.ts'
import styles from './tile.module.css'

interface Props {
  readonly robot: Pick<LiveRobot, 'id' | 'name' | 'camera' | 'stream_url'>
  readonly slots: PictureSlots
  /** Whether nobody drives it, so that a still picture does for a while. */
  readonly isIdle?: boolean
  /** Receives the viewer of the shown picture. Stable between renders. */
  readonly onWatch?: (watch: VideoWatch | undefined) => void
}

/** Fills its tile with the picture of a robot while it is visible and there is a free slot. */
export function TilePicture({ robot, slots, isIdle = false, onWatch }: Props) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { id, name, camera, stream_url } = robot
  const source = useMemo(
    () => (camera === null ? { url: stream_url } : publishedCamera(id, camera)),
    [id, camera, stream_url],
  )
  const origin = camera === null ? originOf(stream_url) : WEBRTC
  useEffect(() => {
    if (!inViewport || origin === undefined) return
    slots.request(id, origin, isIdle)
    return () => slots.release(id)
  }, [slots, id, origin, isIdle, inViewport])
  const still = useRef<HTMLDivElement>(null)
  const shown = useSyncExternalStore(slots.shown.subscribe, () => slots.shown.get().has(id))
  return (
    <div ref={ref} className={styles.picture}>
      <div ref={still} className={styles.still} />
      {shown && (
        <TileVideo
          source={source}
          title={t('live.tile.camera', { robot: name })}
          still={still}
          onWatch={onWatch}
        />
      )}
      {!shown && origin === undefined && <Text size="sm">{t('live.tile.noCamera')}</Text>}
      {!shown && origin !== undefined && inViewport && (
        <Button
          size="compact-xs"
          variant="default"
          className={styles.show}
          onClick={() => slots.prefer(id)}
          title={t('live.tile.tooManyPictures')}
          aria-label={t('live.tile.showPictureLabel', { robot: name })}
        >
          {t('live.tile.showPicture')}
        </Button>
      )}
    </div>
  )
}

/** Fills its positioned parent with a video. */
export function TileVideo(props: {
  /** Stable between renders. */
  source: VideoSource | string
  title: string
  /** Receives the last picture, for the time without one. */
  still?: RefObject<HTMLElement | null>
  onWatch: Props['onWatch']
}) {
  const { source, title, still, onWatch } = props
  const host = useRef<HTMLDivElement>(null)
  const [watch, setWatch] = useState<VideoWatch>()
  useEffect(() => {
    if (!host.current) return
    const opened = watchVideo(typeof source === 'string' ? { url: source } : source, title, host.current)
    setWatch(opened)
    onWatch?.(opened)
    const picture = host.current
    return () => {
      if (still?.current) keepStill(picture, still.current)
      opened.close()
      setWatch(undefined)
      onWatch?.(undefined)
    }
  }, [source, title, still, onWatch])
  return (
    <section aria-label={title}>
      <div ref={host} className={styles.host} />
      {watch && <Missing watch={watch} />}
    </section>
  )
}

/** Copies what `host` shows at present. */
function keepStill(host: HTMLElement, still: HTMLElement): void {
  const shown = host.firstElementChild
  const isPicture =
    shown instanceof HTMLImageElement ||
    shown instanceof HTMLVideoElement ||
    shown instanceof HTMLCanvasElement
  if (!isPicture) return
  const [width, height] = [host.clientWidth, (host.clientWidth * 9) / 16]
  const copy = Object.assign(document.createElement('canvas'), { width, height })
  try {
    copy.getContext('2d')?.drawImage(shown, 0, 0, width, height)
    still.replaceChildren(copy)
  } catch {
    // There was no picture yet: the older one stays.
  }
}

/** Covers a missing picture: with a skeleton until the first one is there, or with what is wrong. */
function Missing({ watch }: { watch: VideoWatch }) {
  const { phase, reason } = useStore(watch.state)
  if (phase === 'showing') return null
  return (
    <div className={styles.missing} data-waiting={reason === undefined}>
      {reason !== undefined && <Text size="sm">{t('live.freshness.noCamera')}</Text>}
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
