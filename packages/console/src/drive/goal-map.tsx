import type { Autonomy } from '@wheelhouse/protocol'
import type { GoalTarget, Pose, PosePrediction } from '@wheelhouse/sdk'
import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { createStore, type Store, useStore } from '../base/store.ts'
import { BLIND_MS } from '../freshness/freshness.ts'
import { drawNewest, type TelemetrySample } from '../telemetry/feed.ts'
import type { SampleReader } from '../telemetry/sample-reader.ts'
import { drawSightings, NOTHING, type Predict } from '../telemetry/surroundings.ts'
import { type TelemetrySource, useSampleReader } from '../telemetry/telemetry-view.tsx'
import {
  drawGoal,
  drawGrid,
  drawPath,
  drawPrediction,
  drawRobot,
  fitCanvas,
  type Pixels,
} from '../telemetry/trail-map.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import { CallButton } from './call.tsx'
import { distance } from './figure-texts.ts'
import { fromRobot, goalOf, type MapView, pixelsOf } from './goal-geometry.ts'
import styles from './goal-map.module.css'
import type { SentGoal } from './operator-connection.ts'
import plates from './plates.module.css'

/** What a view knows of the goal of a robot, and what its user may do about it. */
export interface Goals {
  /** What the robot reports; null while it does not. */
  readonly autonomy: Autonomy | null
  /** Whether nothing of the robot is known at present. */
  readonly isUnknown: boolean
  /** Undefined for a viewer. */
  readonly sent?: Store<SentGoal | undefined> | undefined
  /** Undefined for who does not hold control. */
  readonly onGoal?: ((target: GoalTarget) => void) | undefined
  readonly onCancel?: (() => unknown) | undefined
}

const noGoal = createStore<SentGoal | undefined>(undefined)

/** Returns where the robot drives by itself, or where it was told to; undefined without such a place. */
export function useGoalPose({ autonomy, isUnknown, sent: store = noGoal }: Goals): Pose | undefined {
  const sent = useStore(store)
  if (sent) return sent.refusal === undefined ? poseOf(sent.target) : undefined
  const goal = autonomy?.goal
  return goal?.status === 'active' && !isUnknown ? poseOf(goal) : undefined
}

const poseOf = ({ x, y, heading }: Omit<GoalTarget, 'frame'>): Pose => ({ xM: x, yM: y, headingRad: heading })

/** Says how the goal of a robot goes, and cancels it. Without `isComplete` only while there is one, or a refusal of one. */
export function GoalStatus({ goals, isComplete = false }: { goals: Goals; isComplete?: boolean }) {
  const { autonomy, isUnknown, onCancel } = goals
  const sent = useStore(goals.sent ?? noGoal)
  const goal = autonomy?.goal
  const isActive = goal?.status === 'active'
  const isSent = sent !== undefined && sent.refusal === undefined
  const text = sent ? sentText(sent) : isUnknown && goal ? t('drive.goal.unknown') : goal && goalText(goal)
  const hint = isComplete && goals.onGoal ? t('drive.goal.press') : undefined
  if (!sent && !isActive && !isComplete) return null
  return (
    <div className={styles.status} data-active={isActive}>
      {/* Screen readers read how a goal ends, and not every metre. */}
      <span role={isActive && !sent ? 'timer' : 'status'} data-testid="goal">
        {text ?? hint}
      </span>
      {onCancel && (isActive || isSent) && (
        <CallButton hint="X" onClick={onCancel}>
          {t('drive.goal.cancel')}
        </CallButton>
      )}
    </div>
  )
}

const sentText = ({ refusal }: SentGoal): string =>
  refusal === undefined ? t('drive.goal.sent') : t('drive.goal.refused', { reason: refusal })

function goalText({ status, progress, distance_m, message }: NonNullable<Autonomy['goal']>): string {
  if (status === 'reached') return t('drive.goal.reached')
  if (status === 'canceled') return t('drive.goal.canceled')
  if (status === 'failed') return message ? t('drive.goal.failedWhy', { message }) : t('drive.goal.failed')
  const [share, left] = [progress === undefined ? undefined : percent(progress), distance_m]
  if (left === undefined)
    return share === undefined ? t('drive.goal.activeOnly') : t('drive.goal.percentOnly', { percent: share })
  const toGo = { distance: distance(left) }
  return share === undefined
    ? t('drive.goal.active', toGo)
    : t('drive.goal.activePercent', { ...toGo, percent: share })
}

/** Half of the shorter side of the map. */
const RANGES_M = [2.5, 5, 10, 20, 40]
const USUAL_RANGE = 1

/** Shows the robot in its coordinate frame, its path and its goal. Who holds control gives a goal by a press, and its heading by a drag. */
export function GoalMap({ subscribe, telemetrySchema, predict, goals }: TelemetrySource & { goals: Goals }) {
  const reader = useSampleReader(telemetrySchema)
  const plate = useRef<HTMLElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const map = useRef<ReturnType<typeof createGoalMap>>(null)
  const [range, setRange] = useState(USUAL_RANGE)
  const [isRefused, setRefused] = useState(false)
  const goal = useGoalPose(goals)
  const shown = useRef<Shown>({ goal, range, predict })
  useEffect(() => {
    shown.current = { goal, range, predict }
  })
  useEffect(() => {
    if (!canvas.current) return
    const created = createGoalMap(canvas.current, reader)
    map.current = created
    const draw = () => {
      plate.current?.toggleAttribute('data-stale', !created.isFresh())
      created.draw(shown.current)
    }
    return drawNewest(subscribe, draw, created.add)
  }, [subscribe, reader])
  const { onGoal } = goals
  const frame = goals.autonomy?.goal_frame
  const place = ({ nativeEvent: { offsetX, offsetY } }: PointerEvent): Pixels => [offsetX, offsetY]
  const press = (event: PointerEvent) => {
    if (!onGoal || event.button !== 0 || !event.isPrimary) return
    const isTaken = map.current?.press(place(event)) === true
    setRefused(!isTaken)
    if (isTaken) event.currentTarget.setPointerCapture(event.pointerId)
  }
  const release = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    map.current?.drag(place(event))
    const pose = map.current?.release()
    setRefused(pose === undefined)
    if (pose && frame) onGoal?.({ frame, x: pose.xM, y: pose.yM, heading: pose.headingRad })
  }
  return (
    <section
      ref={plate}
      className={`${plates.plate} ${styles.map}`}
      data-hud="nearby"
      aria-label={t('drive.goal.map')}
    >
      <canvas
        ref={canvas}
        role="img"
        data-testid="goal-map"
        data-gives={onGoal !== undefined}
        aria-label={onGoal ? t('drive.goal.send') : t('drive.goal.show')}
        onPointerDown={press}
        onPointerMove={(event) =>
          event.currentTarget.hasPointerCapture(event.pointerId) && map.current?.drag(place(event))
        }
        onPointerUp={release}
        onPointerCancel={() => map.current?.drop()}
        onLostPointerCapture={() => map.current?.drop()}
      />
      <div className={styles.foot}>
        {isRefused ? (
          <div className={styles.status}>
            <span role="alert" data-testid="goal">
              {t('drive.goal.refused', { reason: t('drive.goal.stale') })}
            </span>
          </div>
        ) : (
          <GoalStatus goals={goals} isComplete />
        )}
        <div className={styles.range}>
          <Range label={t('drive.goal.farther')} to={range + 1} onRange={setRange}>
            −
          </Range>
          <Range label={t('drive.goal.nearer')} to={range - 1} onRange={setRange}>
            +
          </Range>
        </div>
      </div>
    </section>
  )
}

const Range = (props: { label: string; to: number; onRange: (range: number) => void; children: string }) => (
  <button
    type="button"
    className={plates.button}
    aria-label={props.label}
    title={props.label}
    disabled={RANGES_M[props.to] === undefined}
    onClick={() => props.onRange(props.to)}
  >
    {props.children}
  </button>
)

interface Shown {
  readonly goal: Pose | undefined
  /** An index of `RANGES_M`. */
  readonly range: number
  readonly predict: Predict | undefined
}

/** Poses of the trail, and the least distance between two. */
const MAX_TRAIL = 400
const TRAIL_STEP_M = 0.05

/** Follows samples, draws the map, and takes the press of a goal. The map stands still while it is pressed. */
function createGoalMap(canvas: HTMLCanvasElement, reader: SampleReader) {
  let newest: TelemetrySample | undefined
  let pose: Pose | undefined
  let trail: readonly Pose[] = []
  let around = NOTHING
  let press: { readonly view: MapView; readonly from: Pixels; readonly to: Pixels } | undefined
  let drawn: readonly unknown[] = []
  let predicted: PosePrediction | null = null
  let view: MapView | undefined

  const isFresh = () =>
    newest !== undefined && pose !== undefined && performance.now() - newest.atMs < BLIND_MS
  const pressedGoal = () =>
    press && pose && isFresh() ? goalOf(press.view, pose, press.from, press.to) : undefined

  function draw({ goal, range, predict }: Shown): void {
    const before = predicted
    const reported = pose && newest ? { ...pose, atMs: newest.atMs } : null
    predicted = predict?.(reported, performance.now()) ?? null
    const state = [newest, goal, range, press, canvas.clientWidth, canvas.clientHeight]
    if (!predicted && !before && state.every((value, index) => value === drawn[index])) return
    if (newest !== drawn[0]) around = reader.sightings(newest?.data)
    drawn = state
    const area = pose && fitCanvas(canvas)
    if (!area || !pose) return
    const { context, width, height } = area
    const pixelsPerM = Math.min(width, height) / 2 / (RANGES_M[range] ?? 1)
    const shown = press?.view ?? { middle: pose, pixelsPerM, width, height }
    view = shown
    const toPixels = (point: { xM: number; yM: number }) => pixelsOf(shown, point)
    const robot = pose
    drawGrid(area, shown.pixelsPerM, toPixels({ xM: 0, yM: 0 }))
    drawPath(context, [...trail, robot].map(toPixels), 0.5)
    const accent = context.strokeStyle
    drawSightings(context, around, (seen) => toPixels(fromRobot(robot, seen)))
    context.fillStyle = context.strokeStyle = accent
    drawRobot(context, toPixels(robot), robot.headingRad)
    if (predicted) drawPrediction(context, predicted, toPixels, ({ headingRad }) => headingRad)
    const target = pressedGoal() ?? goal
    if (!target) return
    context.setLineDash([4, 6])
    drawPath(context, [toPixels(robot), toPixels(target)], 0.6)
    context.setLineDash([])
    drawGoal(context, toPixels(target), target.headingRad)
  }

  return {
    add(sample: TelemetrySample): void {
      newest = sample
      pose = reader.pose(sample.data)
      const last = trail.at(-1)
      if (pose && (!last || Math.hypot(pose.xM - last.xM, pose.yM - last.yM) >= TRAIL_STEP_M))
        trail = [...trail.slice(1 - MAX_TRAIL), pose]
    },
    draw,
    /** Whether the place of the robot is known at present: without it, nobody knows what is pressed. */
    isFresh,
    /** Takes a press. Returns false on a map that is out of date. */
    press(at: Pixels): boolean {
      press = view && isFresh() ? { view, from: at, to: at } : undefined
      return press !== undefined
    },
    drag(to: Pixels): void {
      if (press) press = { ...press, to }
    },
    /** Ends a press. Returns the goal; undefined if the map is out of date. */
    release(): Pose | undefined {
      const goal = pressedGoal()
      press = undefined
      return goal
    },
    /** Ends a press without a goal. */
    drop(): void {
      press = undefined
    },
  }
}
