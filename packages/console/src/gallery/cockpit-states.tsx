import type { GoalState } from '@wheelhouse/protocol'
import type { CSSProperties, ReactNode } from 'react'
import { createStore } from '../base/store.ts'
import { Bar, Identity, MenuButton, SessionFiguresView, TrustChip } from '../drive/bar.tsx'
import { type Call, CallButton, CallSlot, KeyHint } from '../drive/call.tsx'
import { linkCall, stopCall } from '../drive/calls.tsx'
import cockpit from '../drive/cockpit.module.css'
import { CommandList, sessionCommands } from '../drive/command-menu.tsx'
import { atRest } from '../drive/control-plan.ts'
import { GoalMap } from '../drive/goal-map.tsx'
import type { BatteryReading } from '../drive/measurements.ts'
import { Nearby } from '../drive/nearby.tsx'
import type { Holder } from '../drive/robot-view.ts'
import { SpeedPlate } from '../drive/speed-plate.tsx'
import { StopButton, type StopPhase } from '../drive/stop-button.tsx'
import type { FreshnessAges } from '../freshness/freshness.ts'
import type { RobotFacts } from '../status/trust.ts'
import type { TelemetrySample } from '../telemetry/feed.ts'
import { ago, block, Column, doNothing, ON_PICTURE, OPERATOR_ID, session, shown } from './frames.tsx'
import styles from './gallery.module.css'

/** Returns a state of a part of the cockpit, on its stage. */
const onStage = (id: string, label: string, size: CSSProperties, content: ReactNode, readyText?: string) =>
  shown(
    id,
    label,
    <div className={styles.window} style={{ width: 1440, ...size }}>
      <div className={cockpit.cockpit} data-hand="right" data-bare="false">
        <div className={cockpit.stage}>
          <div className={cockpit.hud}>{content}</div>
        </div>
      </div>
    </div>,
    { ...ON_PICTURE, ...(readyText && { readyText }) },
  )

const live: FreshnessAges = { pictureMs: 42, telemetryMs: 20, linkMs: 10 }
const driving: RobotFacts = { isConnected: true, isStopped: false, isPaused: false }
const half: BatteryReading = { charge: 0.62, level: 'good', trend: 'draining', minutesLeft: 41 }

interface BarOptions {
  readonly holder: Holder
  readonly ages?: Partial<FreshnessAges>
  readonly isConnected?: boolean
  readonly battery?: BatteryReading | undefined
  readonly isSilent?: boolean
  readonly isWatching?: boolean
  readonly waiting?: number
}

const bar = (id: string, label: string, options: BarOptions) => {
  const { holder, ages, isConnected = true, battery = half, isSilent = false, isWatching = false } = options
  const all = { ...live, ...ages }
  return onStage(
    `bar-${id}`,
    label,
    { height: 60 },
    <Bar
      end={
        <>
          <SessionFiguresView
            session={session}
            battery={battery}
            isSilent={isSilent}
            isLost={!isConnected}
            recording={null}
            billedSeconds={session.billable_seconds}
          />
          <MenuButton waiting={options.waiting ?? 0} isOpen={false} onOpen={doNothing} />
        </>
      }
    >
      <Identity
        session={session}
        holder={holder}
        controller={undefined}
        isLive={!isSilent && isConnected}
        isWatching={isWatching}
      />
      <TrustChip readAges={() => all} robot={{ ...driving, isConnected }} linkText="Connected">
        {null}
      </TrustChip>
    </Bar>,
    session.robot_name,
  )
}

const call = (id: string, label: string, call: Call | undefined) =>
  onStage(`call-${id}`, label, { height: 190 }, <CallSlot calls={call ? [call] : []} />)

/** Returns the call of a stop, which the operator requested unless the options say otherwise. */
const stop = (id: string, label: string, options: Partial<Parameters<typeof stopCall>[0]>) => {
  const { request = { phase: 'none' }, inForce, acts = null, session = stopped } = options
  const operator = { meId: OPERATOR_ID, isWatching: false }
  return call(id, label, stopCall({ ...operator, request, inForce, acts, session }))
}

const stopped = { ...session, control: { ...session.control, stop: stopOf(true) } }

function stopOf(mayClear: boolean) {
  return {
    by: OPERATOR_ID,
    reason: 'from the cockpit',
    at: ago(65),
    may_clear: mayClear,
    clear_requested_at: null,
    by_role: 'operator' as const,
    clearable_by: 'anyone' as const,
  }
}

const inForce = { reason: 'from the cockpit', by: OPERATOR_ID, recorded: true }

const stopButton = (phase: StopPhase, label: string, isWatching = false) =>
  onStage(
    `cockpit-stop-${phase}${isWatching ? '-watching' : ''}`,
    label,
    { width: 320, height: 170 },
    <StopButton phase={phase} isWatching={isWatching} onStop={doNothing} />,
  )

const sample = {
  pose: { x_m: 1, y_m: 2, heading_rad: 0.6 },
  velocity: { linear_mps: 0.42, angular_radps: 0 },
  nearest_obstacle: { distance_m: 0.8, bearing_rad: -1.45 },
}

/** Returns a feed of one sample, which never ages, or is always old: its time is a limit, not a moment. */
const feed =
  (data: unknown, isStale = false) =>
  (listener: (sample: TelemetrySample) => void) => {
    listener({ atMs: isStale ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY, data })
    return doNothing
  }

interface SpeedOptions {
  readonly data?: unknown
  readonly limit?: number
  readonly scale?: number
  readonly cause?: string
  readonly isStale?: boolean
  readonly forward?: number
  readonly schema?: Record<string, unknown>
}

const speedPlate = (id: string, label: string, options: SpeedOptions) => {
  const { data = sample, limit, scale = 1, cause, isStale, forward = 0, schema = null } = options
  return onStage(
    `speed-${id}`,
    label,
    { height: 210 },
    <SpeedPlate
      subscribe={feed(data, isStale)}
      telemetrySchema={schema}
      preferences={limit === undefined ? undefined : { limit: createStore(limit), stepLimit: doNothing }}
      axes={createStore({ ...atRest, forward })}
      fullSpeed={{ linearMps: 1, angularRadps: 1.5 }}
      speedScale={scale}
      cause={cause}
    />,
    schema === null ? 'm/s' : 'J6',
  )
}

const joint = { type: 'number', minimum: -3, maximum: 3, 'x-unit': 'rad' }
const arm = {
  type: 'object',
  properties: {
    velocity: { type: 'object', 'x-kind': 'velocity', properties: { linear_mps: { type: 'number' } } },
    arm: {
      type: 'object',
      'x-kind': 'joints',
      properties: Object.fromEntries(['J1', 'J2', 'J3', 'J4', 'J5', 'J6'].map((name) => [name, joint])),
    },
  },
}

const nearby = (id: string, label: string, isStale = false) =>
  onStage(
    `nearby-${id}`,
    label,
    { height: 520 },
    <Nearby
      subscribe={feed(sample, isStale)}
      telemetrySchema={null}
      goals={{ autonomy: null, isUnknown: isStale }}
    />,
  )

const goalMap = (id: string, label: string, goal: GoalState | null, isStale = false) =>
  onStage(
    `goal-map-${id}`,
    label,
    { height: 620 },
    <GoalMap
      subscribe={feed(sample, isStale)}
      telemetrySchema={null}
      goals={{
        autonomy: { type: 'autonomy', mode: goal ? 'autonomous' : 'manual', goal_frame: 'odom', goal },
        isUnknown: isStale,
        onGoal: doNothing,
        onCancel: doNothing,
      }}
    />,
  )

const goal: GoalState = {
  goal_id: 'dock',
  status: 'active',
  x: 3,
  y: 4,
  heading: 0,
  progress: 0.62,
  distance_m: 2.8,
}

export const cockpitBlocks = [
  block(
    'Bar of the cockpit',
    'Use it above the picture: who drives, how far the picture can be trusted, and the session.',
    bar('live', 'Driving', { holder: 'driving' }),
    bar('delayed', 'The picture is late', { holder: 'driving', ages: { pictureMs: 560 } }),
    bar('blind', 'The picture is too old', { holder: 'held', ages: { pictureMs: 3_400 } }),
    bar('silent', 'No connection: the figures are the last known ones', {
      holder: 'unconnected',
      ages: { linkMs: 4_200, telemetryMs: 4_200 },
      isSilent: true,
    }),
    bar('lost', 'The robot is lost', {
      holder: 'unconnected',
      isConnected: false,
      ages: { telemetryMs: 8_000 },
    }),
    bar('stopped', 'Stopped, and something waits', {
      holder: 'stopped',
      battery: { charge: 0.14, level: 'critical', trend: 'draining', minutesLeft: 6 },
      waiting: 1,
    }),
    bar('watching', 'Watched by the owner', { holder: 'driving', isWatching: true }),
  ),
  block(
    'Call',
    'Use it for the one thing that needs an answer; what waits behind it is a number on the menu.',
    stop('stop-sent', 'A stop is being sent', { request: { phase: 'requested' } }),
    stop('stopped', 'Stopped by the operator', {
      inForce,
      acts: (
        <CallButton isPrimary>
          Area is clear: clear and resume<KeyHint>hold C</KeyHint>
        </CallButton>
      ),
    }),
    stop('stopped-by-owner', 'Stopped by the owner', {
      session: {
        ...session,
        control: { ...session.control, stop: { ...stopOf(false), by: session.client_id } },
      },
      inForce: { ...inForce, by: session.client_id, reason: 'A person is in its way' },
      acts: (
        <CallButton isPrimary shortcut="c">
          Ask to clear
        </CallButton>
      ),
    }),
    stop('stop-rejected', 'A stop was rejected', {
      request: { phase: 'rejected', error: new Error('The session has ended.') },
    }),
    call(
      'offline',
      'No connection to the gateway',
      linkCall({ phase: 'offline', problem: 'The gateway does not answer.' }, doNothing),
    ),
    call(
      'replaced',
      'Another window drives',
      linkCall({ phase: 'ended', end: { reason: 'replaced', closeCode: 4001 } as never }, doNothing),
    ),
  ),
  block(
    'Stop in the cockpit',
    'Use it in one corner of every view of a live robot, above everything, in every state.',
    stopButton('ready', 'The robot may move'),
    stopButton('requested', 'Being sent'),
    stopButton('stopped', 'In force, and can be sent again'),
    stopButton('ready', 'For a viewer', true),
  ),
  block(
    'Speed',
    'Use it for the measured speed, the commanded one, the limit, and what of it is not available.',
    speedPlate('driving', 'Driving', { limit: 0.5, forward: 0.9 }),
    speedPlate('limited', 'Limited by the latency', {
      limit: 0.5,
      scale: 0.6,
      forward: 0.6,
      cause: 'Speed limited to 60%: commands take long',
      data: { ...sample, velocity: { linear_mps: 0.28, angular_radps: 0 } },
    }),
    speedPlate('stale', 'Telemetry older than a second', { limit: 0.5, isStale: true }),
    speedPlate('watching', 'Watched by the owner', {}),
    speedPlate('arm', 'Joints of an arm', {
      limit: 0.1,
      schema: arm,
      data: {
        velocity: { linear_mps: 0.06 },
        arm: { J1: -0.2, J2: 0.66, J3: -1.24, J4: 0.07, J5: 2.9, J6: -0.16 },
      },
    }),
  ),
  block(
    'Nearby',
    'Use it for what is around the robot, with its heading up.',
    nearby('obstacle', 'An obstacle is near'),
    nearby('stale', 'No data', true),
  ),
  block(
    'Goal map',
    'Use it where the operator sends a robot to a place, and everybody sees how it goes.',
    goalMap('ready', 'Takes a goal', null),
    goalMap('active', 'The robot drives itself', goal),
    goalMap('failed', 'The goal failed', { ...goal, status: 'failed', message: 'an obstacle is in the way' }),
    goalMap('stale', 'No data', goal, true),
  ),
  block(
    'Commands of the cockpit',
    'Use it for everything that is not needed at once: a key does the same.',
    shown(
      'command-menu',
      'Driving',
      <Column>
        <CommandList
          groups={[
            {
              title: 'Drive',
              commands: sessionCommands({
                isPaused: false,
                isBusy: false,
                onPause: doNothing,
                onResume: { isPossible: true, run: doNothing },
                onEnd: doNothing,
                endLabel: 'End the session…',
              }),
            },
          ]}
          note="Ronja halts while this is open. Esc stops it."
          onClose={doNothing}
        />
      </Column>,
      { schemes: ['dark'] },
    ),
  ),
]
