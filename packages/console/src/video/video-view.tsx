import { Button, Stack, Text } from '@mantine/core'
import { useDidUpdate } from '@mantine/hooks'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { sentence } from '../base/message-of.ts'
import { useStore } from '../base/store.ts'
import { useTicker } from '../base/time.tsx'
import type { LinkAges } from '../freshness/freshness.ts'
import { FreshnessOverlay } from '../freshness/freshness-overlay.tsx'
import type { ReadAges } from '../freshness/use-freshness.ts'
import { useFreshness, useIsSilent } from '../freshness/use-freshness.ts'
import { t } from '../texts/texts.ts'
import styles from './video.module.css'
import { type VideoSource, type VideoWatch, watchVideo } from './watch-video.ts'

const AGE_REFRESH_MS = 500

export interface VideoProps {
  /** The video, or its address; stable between renders. Empty or missing if the robot has no video. */
  readonly source: VideoSource | string | null | undefined
  /** The accessible name, such as "Camera of Warehouse arm". */
  readonly title: string
  /** Receives the viewer, whose `pictureMs` is the age of the picture; undefined when it is closed. Stable between renders. */
  readonly onWatch?: ((watch: VideoWatch | undefined) => void) | undefined
  /** Receives the last picture, for the time without one. */
  readonly still?: RefObject<HTMLElement | null>
}

interface Props extends Omit<VideoProps, 'still'> {
  /** Returns the ages of what the page shows of the robot otherwise; stable between renders. Default: the picture counts only. */
  readonly readLinkAges?: (() => LinkAges) | undefined
  /** Whether the gateway rejects the operator's commands because of the picture. */
  readonly isHeld?: boolean
}

/**
 * Fills its positioned parent with the robot's video: WHEP, HLS, a video file, MJPEG or a still image, depending on the response. Marks it when the
 * picture, or what `readLinkAges` returns, is too old.
 */
export function VideoView(props: Props) {
  const { host, watch } = useVideo(props)
  return (
    <section aria-label={props.title} className={styles.view}>
      <div ref={host} className={styles.host} />
      <PictureStatus {...props} watch={watch} />
    </section>
  )
}

/** Plays a video in the element `host` while the component is mounted, and returns its viewer. */
export function useVideo({ source, title, onWatch, still }: VideoProps) {
  const host = useRef<HTMLDivElement>(null)
  const [watch, setWatch] = useState<VideoWatch>()
  useEffect(() => {
    const picture = host.current
    if (!source || !picture) return
    const opened = watchVideo(typeof source === 'string' ? { url: source } : source, title, picture)
    setWatch(opened)
    onWatch?.(opened)
    return () => {
      if (still?.current) keepStill(picture, still.current)
      opened.close()
      setWatch(undefined)
      onWatch?.(undefined)
    }
  }, [source, title, still, onWatch])
  return { host, watch }
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

const FRESH_LINK: LinkAges = { linkMs: 0, telemetryMs: undefined }
const NO_PICTURE = { pictureMs: undefined }

/** Returns a function that returns the ages of a picture and of a connection to the robot, stable between renders. */
export const useReadAges = (
  watch: VideoWatch | undefined,
  readLinkAges: (() => LinkAges) | undefined,
): ReadAges =>
  useMemo(
    () => () => ({ ...(watch?.ages() ?? NO_PICTURE), ...(readLinkAges?.() ?? FRESH_LINK) }),
    [watch, readLinkAges],
  )

/** Covers a missing picture with what is known about it, and an old one with its age. */
function PictureStatus(props: Props & { watch: VideoWatch | undefined }) {
  const { source, watch, readLinkAges, isHeld } = props
  const freshness = useFreshness(useReadAges(watch, readLinkAges))
  useRetryAfterSilence(watch, readLinkAges)
  const status = watch && <VideoStatus watch={watch} />
  const isBlind = freshness.state === 'BLIND'
  return (
    <>
      {!source && !isBlind && (
        <Cover>
          <Text>{t('video.view.none')}</Text>
        </Cover>
      )}
      {watch && <MissingPicture watch={watch}>{!isBlind && status}</MissingPicture>}
      <FreshnessOverlay freshness={freshness} isHeld={isHeld}>
        {isBlind && status}
      </FreshnessOverlay>
    </>
  )
}

/** Retries a lost picture when the connection to the robot is back after a silence, without waiting for its next attempt. */
function useRetryAfterSilence(
  watch: VideoWatch | undefined,
  readLinkAges: (() => LinkAges) | undefined,
): void {
  const isSilent = useIsSilent(readLinkAges)
  useDidUpdate(() => {
    if (!isSilent) watch?.reconnected()
  }, [isSilent])
}

/** Hides what a camera showed before it was lost. */
function MissingPicture({ watch, children }: { watch: VideoWatch; children: ReactNode }) {
  const { phase } = useStore(watch.state)
  return phase === 'showing' ? null : <Cover>{children}</Cover>
}

/** Says why there is no picture, and when the page tries again. Renders nothing while there is one. */
function VideoStatus({ watch }: { watch: VideoWatch }) {
  const { phase, reason, retryAtMs } = useStore(watch.state)
  useTicker(retryAtMs === undefined ? undefined : AGE_REFRESH_MS)
  if (phase === 'showing') return null
  if (phase === 'connecting' && reason === undefined) return <Text>{t('video.view.connecting')}</Text>
  const waitS = Math.max(0, Math.ceil(((retryAtMs ?? 0) - performance.now()) / 1_000))
  return (
    <>
      <Text>
        {retryAtMs === undefined ? t('video.view.retrying') : t('video.view.retryingIn', { seconds: waitS })}
      </Text>
      {reason !== undefined && <Text size="sm">{sentence(reason)}</Text>}
      <Button variant="default" size="xs" onClick={watch.retry}>
        {t('video.view.retryNow')}
      </Button>
    </>
  )
}

const Cover = ({ children }: { children: ReactNode }) => (
  <Stack className={styles.cover} align="center" justify="center" gap="xs" role="status">
    {children}
  </Stack>
)
