import { type ControlSchema, limitSpeed } from '@wheelhouse/protocol'
import { PosePredictor, type RestClient } from '@wheelhouse/sdk'
import { isAttended, isTyping } from '../base/keys.ts'
import { createStore } from '../base/store.ts'
import type { SessionRoom } from '../platform/session-room.ts'
import { ticketsFor } from '../session/observer-connection.ts'
import type { Predict } from '../telemetry/surroundings.ts'
import { createCommandSender } from './command-sender.ts'
import { createControlChanges } from './control-changes.ts'
import {
  atRest,
  type ControlData,
  type ControlInput,
  type ControlPlan,
  controlPlanOf,
  type Deflections,
  type InputValue,
  withSpeeds,
  withValues,
} from './control-plan.ts'
import { createGamepadInput } from './gamepad.ts'
import { createKeyboard } from './keyboard.ts'
import { createOperatorConnection, type OperatorConnection } from './operator-connection.ts'
import { createOperatorStop } from './operator-stop.ts'
import { loadPreferences } from './preferences.ts'

/** The parts of the cockpit that run outside of React. */
export type Cockpit = ReturnType<typeof openCockpit>

interface CockpitOptions {
  readonly rest: RestClient
  readonly room: SessionRoom
  readonly robotId: string
  /** Whether the user is the operator of the session. */
  readonly isOperator: boolean
  readonly robotType: string
  /** The commands that the robot accepts; null when none are declared. */
  readonly controlSchema: ControlSchema | null
}

export function openCockpit(options: CockpitOptions) {
  const { rest, room, robotId, robotType, isOperator, controlSchema } = options
  const preferences = loadPreferences(robotId, robotType)
  const axes = createStore(atRest)
  const isAwaitingRest = createStore(false)
  const plan = controlPlanOf(controlSchema)
  const inputValues = createStore<ReadonlyMap<ControlInput, InputValue>>(new Map())
  const deflections = createStore<Deflections>(new Map())
  const requiredInputs = plan.inputs.filter(({ required }) => required)
  const operatorConnection = createOperatorConnection(ticketsFor(rest, room.sessionId, 'control'), isOperator)
  const { lease } = operatorConnection
  const control = createControlChanges({ rest, sessionId: room.sessionId, lease })
  // It outlives the page: a requested stop is retried until it is recorded.
  const operatorStop = createOperatorStop({ operatorConnection, room, rest })
  const prediction = createPrediction(plan.driveCommandOf, operatorConnection)
  const commandSender = createCommandSender({
    send: (command, urgent) => {
      if (operatorConnection.control(command, urgent)) prediction.sent(command)
    },
    commandOf: (held, limit) => {
      const driving = withSpeeds(plan.drive(held.axes, limit), plan.speeds, held.deflections, limit)
      return withValues(driving, held.sendsValues ? plan.inputs : requiredInputs, inputValues.get())
    },
    allowed: () => isAttended() && operatorConnection.canDrive(),
    limit: preferences.limit.get,
    onAxes: axes.set,
    onDeflections: deflections.set,
    onAwaitingRest: isAwaitingRest.set,
    onRefused: () => isAttended() && operatorConnection.isReady() && control.preempt(),
  })
  const canStop = () =>
    operatorConnection.link.get().phase !== 'online' || operatorConnection.state.get()?.stop?.latched !== true
  const stop = () => {
    release()
    operatorStop.request()
  }
  const keyboard = createKeyboard({ steer: (to) => commandSender.steer('keyboard', to), canStop, stop })
  const gamepad = createGamepadInput({
    steer: (to) => commandSender.steer('gamepad', to),
    stop: () => canStop() && stop(),
    profile: preferences.controls.get,
  })
  function release(): void {
    commandSender.release()
    keyboard.release()
    gamepad.release()
  }
  // A key held during a stop, a pause or an outage must not move the robot afterwards.
  const releaseIfIdle = () => {
    if (!operatorConnection.canDrive()) release()
  }
  // The inputs are released on every event that can hide a keyup.
  const listening = new AbortController()
  const listenOptions = { signal: listening.signal }
  window.addEventListener('blur', release, listenOptions)
  // Until the user returns to the window, gamepads may report another position than they have.
  window.addEventListener('focus', gamepad.release, listenOptions)
  document.addEventListener('visibilitychange', () => document.hidden && release(), listenOptions)
  document.addEventListener('focusin', () => isTyping() && release(), listenOptions)
  const onPageHide = () => {
    release()
    operatorConnection.close()
  }
  window.addEventListener('pagehide', onPageHide, listenOptions)
  // The browser restores the page from its back/forward cache.
  window.addEventListener(
    'pageshow',
    ({ persisted }) => persisted && operatorConnection.takeOver(),
    listenOptions,
  )
  const disposers = [
    () => listening.abort(),
    operatorConnection.state.subscribe(releaseIfIdle),
    operatorConnection.link.subscribe(releaseIfIdle),
    // Whoever holds control begins from zero: what is held now was meant for nobody.
    lease.subscribe(release),
    onCleared(room, () => operatorStop.state.get().phase !== 'requested' && operatorConnection.forgetStop()),
    keyboard.close,
    gamepad.close,
  ]
  return {
    operatorConnection,
    control,
    commandSender,
    plan,
    inputValues,
    deflections,
    predict: prediction.predict,
    gamepad,
    preferences,
    axes,
    /** Whether an input must have been at rest before it drives again. */
    isAwaitingRest,
    /** Releases all inputs and stops the robot. */
    stop,
    /** Releases all inputs, and so halts the robot. */
    release,
    stopState: operatorStop.state,
    close(): void {
      release()
      for (const dispose of disposers) dispose()
      operatorConnection.close()
    },
  }
}

/** Calls `callback` when a stop was cleared. @returns a function that unsubscribes */
function onCleared({ state }: SessionRoom, callback: () => void): () => void {
  let lastSeq = state.get().events.at(-1)?.seq ?? 0
  return state.subscribe(() => {
    const { events } = state.get()
    const cleared = events.some(({ seq, type }) => seq > lastSeq && type === 'session.stop_cleared')
    lastSeq = events.at(-1)?.seq ?? lastSeq
    if (cleared) callback()
  })
}

/** After this time without a command that drives, the robot has halted: the deadman, and the longest delay. */
const DRIVING_MS = 1_000

/** How far the predicted path reaches: for this time, and this far, because a camera sees the floor from about a metre on. */
const AHEAD_MS = 4_000
const REACH_M = 2
const MAX_AHEAD_MS = 10_000

const aheadMsAt = (speedMps: number): number =>
  speedMps > 0 ? Math.min(MAX_AHEAD_MS, Math.max(AHEAD_MS, (REACH_M / speedMps) * 1_000)) : AHEAD_MS

/** Predicts the pose of the robot from the commands of this page. */
function createPrediction(
  driveCommandOf: ControlPlan['driveCommandOf'],
  { limits, latencyStats }: OperatorConnection,
) {
  const predictor = new PosePredictor()
  let droveMs = Number.NEGATIVE_INFINITY
  let speedMps = 0
  const predict: Predict = (reported, nowMs) => {
    const delayMs = latencyStats.commandDelayMs()
    if (delayMs === undefined || nowMs - droveMs > DRIVING_MS + delayMs) return null
    return predictor.predict({ reported, delayMs, nowMs, aheadMs: aheadMsAt(speedMps) })
  }
  return {
    sent(data: ControlData): void {
      const nowMs = performance.now()
      const limited = limitSpeed({ data }, limits.get().speed_scale).data as ControlData
      const command = driveCommandOf(limited)
      predictor.command(command, nowMs)
      speedMps = Math.abs(command.linearMps)
      if (command.linearMps !== 0 || command.angularRadps !== 0) droveMs = nowMs
    },
    predict,
  }
}
