import { Group } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { decimals } from '../base/format.ts'
import { type Store, useStore } from '../base/store.ts'
import { BLIND_MS } from '../freshness/freshness.ts'
import { Shape } from '../status/shapes.tsx'
import { drawNewest, type SubscribeTelemetry } from '../telemetry/feed.ts'
import type { Joint, SampleReader } from '../telemetry/sample-reader.ts'
import { type TelemetrySource, useSampleReader } from '../telemetry/telemetry-view.tsx'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import type { Axes, ControlPlan } from './control-plan.ts'
import { speed, speedParts } from './figure-texts.ts'
import styles from './plates.module.css'
import { type DrivePreferences, LIMIT_STEP, MIN_SPEED_LIMIT } from './preferences.ts'

type FullSpeed = ControlPlan['fullSpeed']

interface Props extends Omit<TelemetrySource, 'predict'> {
  /** The speed limit that the viewer sets; undefined for a viewer who does not drive. */
  readonly preferences: Pick<DrivePreferences, 'limit' | 'stepLimit'> | undefined
  /** What the viewer commands; undefined for a viewer who does not drive. */
  readonly axes: Store<Axes> | undefined
  readonly fullSpeed: FullSpeed
  /** The share of the limit that is available: latency or an old picture may lower it. */
  readonly speedScale: number
  /** Why the robot drives slower, or what else the viewer must know of the connection. */
  readonly cause: string | undefined
}

/** Limits updates of texts, because layout is expensive. */
const TEXT_INTERVAL_MS = 100

/**
 * Shows the speed and its envelope: the track ends at the limit of the operator, a white bar is the measured speed, a blue mark the
 * commanded one, and what is not available is hatched. An arm has its joints instead of the track.
 */
export function SpeedPlate(props: Props) {
  const { subscribe, telemetrySchema, preferences, axes, fullSpeed, speedScale, cause } = props
  const reader = useSampleReader(telemetrySchema)
  const value = useRef<HTMLElement>(null)
  const track = useRef<HTMLDivElement>(null)
  const limit = preferences?.limit
  const fullLinearMps = fullSpeed.linearMps
  const joints = useJoints(subscribe, reader)
  useEffect(() => {
    let writtenMs = 0
    return drawNewest(subscribe, (newest, frameMs) => {
      if (!value.current || frameMs - writtenMs < TEXT_INTERVAL_MS) return
      writtenMs = frameMs
      const isStale = newest !== undefined && performance.now() - newest.atMs >= BLIND_MS
      const mps = newest && reader.speedMps(newest.data)
      const text = mps === undefined || isStale ? '–' : speedParts(mps)[0]
      if (value.current.textContent !== text) value.current.textContent = text
      value.current.parentElement?.toggleAttribute('data-stale', isStale)
      if (!track.current) return // an arm has none
      const endMps = fullLinearMps * (limit?.get() ?? 1)
      const forward = axes?.get().forward ?? 0
      const share = mps === undefined || endMps === 0 || isStale ? 0 : Math.min(1, Math.abs(mps) / endMps)
      track.current.style.setProperty('--share', share.toFixed(3))
      track.current.style.setProperty('--command', Math.abs(forward).toFixed(3))
      track.current.toggleAttribute('data-commanded', forward !== 0)
    })
  }, [subscribe, reader, fullLinearMps, limit, axes])
  const [, unit] = speedParts(0)
  return (
    <section
      className={`${styles.plate} ${styles.speed}`}
      data-hud="speed"
      data-testid="speed"
      aria-label={t('drive.figures.label')}
    >
      <div className={styles.cause} role="status">
        {cause !== undefined && (
          <>
            <Shape name="delayed" />
            {cause}
          </>
        )}
      </div>
      <Group gap="1em" align="flex-end" justify="space-between" wrap="nowrap">
        <span className={styles.value} title={t('drive.figures.speed')}>
          <span ref={value}>–</span>
          <span className={styles.unit}>{unit}</span>
        </span>
        {preferences && <SpeedLimit preferences={preferences} fullSpeed={fullSpeed} />}
      </Group>
      {joints.length > 0 ? (
        <Joints joints={joints} />
      ) : (
        <div
          ref={track}
          className={styles.track}
          data-limited={speedScale < 1 || undefined}
          style={{ '--available': speedScale } as React.CSSProperties}
        >
          <i className={styles.closed} />
          <i className={styles.measured} />
          <i className={styles.commanded} />
        </div>
      )}
    </section>
  )
}

/** Sets the speed limit by slider, buttons or the keys [ and ]. */
function SpeedLimit(props: { preferences: NonNullable<Props['preferences']>; fullSpeed: FullSpeed }) {
  const { preferences, fullSpeed } = props
  const limit = useStore(preferences.limit)
  const text = limitText(limit, fullSpeed)
  const shown = fullSpeed.linearMps === 0 ? percent(limit) : speed(limit * fullSpeed.linearMps)
  return (
    <div className={styles.limit}>
      <Step label={t('drive.figures.lower')} hint="[" onClick={() => preferences.stepLimit(-1)}>
        −
      </Step>
      <label className={styles.slider}>
        {t('drive.figures.limit')} <b>{shown}</b>
        <input
          type="range"
          aria-label={t('drive.figures.limitLabel')}
          aria-valuetext={text}
          title={text}
          min={MIN_SPEED_LIMIT * 100}
          max={100}
          step={LIMIT_STEP * 100}
          value={Math.round(limit * 100)}
          onChange={(event) => preferences.limit.set(Number(event.currentTarget.value) / 100)}
          // The arrow keys drive again after the pointer has set the limit.
          onPointerUp={(event) => event.currentTarget.blur()}
        />
      </label>
      <Step label={t('drive.figures.raise')} hint="]" onClick={() => preferences.stepLimit(1)}>
        +
      </Step>
    </div>
  )
}

const Step = (props: { label: string; hint: string; onClick: () => void; children: ReactNode }) => (
  <button type="button" aria-label={props.label} aria-keyshortcuts={props.hint} onClick={props.onClick}>
    {props.children}
  </button>
)

/** Returns a limit as `Speed limit: 50 % (0.20 m/s and 0.20 rad/s)`. */
export const limitText = (limit: number, { linearMps, angularRadps }: FullSpeed) =>
  t('drive.figures.limitText', {
    percent: Math.round(limit * 100),
    linear: decimals(limit * linearMps, 2),
    angular: decimals(limit * angularRadps, 2),
  })

/** Returns the joints of the newest sample, ten times a second at most; none for a robot without an arm. */
function useJoints(subscribe: SubscribeTelemetry, reader: SampleReader): readonly Joint[] {
  const [joints, setJoints] = useState<readonly Joint[]>([])
  useEffect(() => {
    let readMs = Number.NEGATIVE_INFINITY
    return subscribe(({ data, atMs }) => {
      if (atMs - readMs < TEXT_INTERVAL_MS) return
      readMs = atMs
      const next = reader.joints(data, 'arm')
      setJoints((before) => (next.length === 0 && before.length === 0 ? before : next))
    })
  }, [subscribe, reader])
  return joints
}

/** From this share of the travel on, a joint is near its end. */
const NEAR_END = 0.92

const Joints = ({ joints }: { joints: readonly Joint[] }) => (
  <div className={styles.joints}>
    {joints.map(({ name, value, unit, min, max }) => {
      const share = min === undefined || max === undefined ? undefined : (value - min) / (max - min)
      const isNear = share !== undefined && Math.abs(share * 2 - 1) >= NEAR_END
      return (
        <div key={name} className={styles.joint} data-near={isNear || undefined}>
          <small title={name}>{name}</small>
          {jointText(value, unit)}
          {share !== undefined && (
            <div className={styles.jointTrack}>
              <i style={{ insetInlineStart: `${Math.min(1, Math.max(0, share)) * 100}%` }} />
            </div>
          )}
        </div>
      )
    })}
  </div>
)

/** Returns a joint as `84°` if it turns, otherwise with its unit. */
const jointText = (value: number, unit: string): string =>
  unit === 'rad' ? `${Math.round((value * 180) / Math.PI)}°` : `${decimals(value, 2)} ${unit}`.trim()
