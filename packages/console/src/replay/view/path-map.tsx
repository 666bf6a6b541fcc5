import type { TelemetrySchema } from '@wheelhouse/protocol'
import { recordingTopics } from '@wheelhouse/protocol'
import type { Pose } from '@wheelhouse/sdk'
import { useCallback, useMemo, useRef } from 'react'
import { createSampleReader, formatPose } from '../../telemetry/sample-reader.ts'
import type { Point } from '../../telemetry/trail-map.ts'
import { drawTrail } from '../../telemetry/trail-map.ts'
import { t } from '../../texts/texts.ts'
import type { Replay } from '../player/replay.ts'
import styles from './replay.module.css'
import { usePositionEffect } from './use-position.ts'

interface Props {
  readonly replay: Replay
  readonly schema: TelemetrySchema | null
}

type TimedPose = Pose & { readonly atMs: number }

interface Path {
  readonly poses: readonly TimedPose[]
  readonly low: Point
  readonly high: Point
}

/** Shows the whole path of the robot from above: up to the position, and faintly after it. */
export function PathMap({ replay, schema }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const path = useRef<{ source: Float64Array; path: Path }>(undefined)
  const reader = useMemo(() => createSampleReader(schema), [schema])
  const draw = useCallback(
    (atMs: number) => {
      const poses = replay.overview.state.get().overview?.poses
      if (!canvas.current || !poses) return
      if (path.current?.source !== poses) path.current = { source: poses, path: pathOf(poses) }
      const sample = replay.moments.at(recordingTopics.telemetry, atMs)
      drawPath(canvas.current, path.current.path, atMs, sample && reader.pose(sample.value.data))
    },
    [replay, reader],
  )
  usePositionEffect(replay, draw)
  return (
    <canvas
      ref={canvas}
      className={styles.map}
      role="img"
      aria-label={t('replay.map.empty')}
      data-testid="path"
    />
  )
}

function pathOf(values: Float64Array): Path {
  const poses: TimedPose[] = []
  for (let at = 0; at < values.length; at += 4) {
    const [atMs = Number.NaN, xM = 0, yM = 0, headingRad = 0] = values.subarray(at, at + 4)
    if (!Number.isNaN(atMs)) poses.push({ atMs, xM, yM, headingRad })
  }
  const [xs, ys] = [poses.map(({ xM }) => xM), poses.map(({ yM }) => yM)]
  return {
    poses,
    low: { xM: Math.min(...xs), yM: Math.min(...ys) },
    high: { xM: Math.max(...xs), yM: Math.max(...ys) },
  }
}

function drawPath(
  canvas: HTMLCanvasElement,
  { poses, low, high }: Path,
  atMs: number,
  exact: Pose | undefined,
): void {
  const [last] = poses.slice(-1)
  if (!last) return
  const next = poses.findIndex((pose) => pose.atMs > atMs)
  const split = next < 0 ? poses.length : next
  const pose = exact ?? poses[split - 1]
  drawTrail(
    canvas,
    { trail: poses.slice(0, split), ahead: poses.slice(Math.max(0, split - 1)), pose, low, high },
    null,
  )
  const label = pose ? t('replay.map.position', { pose: formatPose(pose) }) : t('replay.map.empty')
  if (canvas.getAttribute('aria-label') !== label) canvas.setAttribute('aria-label', label)
}
