import { z } from 'zod'
import { createPersisted } from '../base/persisted.ts'
import type { Store } from '../base/store.ts'

export const MIN_SPEED_LIMIT = 0.05
const DEFAULT_LIMIT = 0.5
export const LIMIT_STEP = 0.05

/** The operator's drive settings, stored in this browser. */
export type DrivePreferences = ReturnType<typeof loadPreferences>

export type Hand = 'right' | 'left'

export function loadPreferences(robotId: string, robotType: string) {
  const limit = createPersisted(`wheelhouse-speed-limit:${robotId}`, DEFAULT_LIMIT, (text) => {
    const stored = Number(text)
    return stored >= MIN_SPEED_LIMIT && stored <= 1 ? stored : DEFAULT_LIMIT
  })
  const clamp = (share: number) => Math.min(1, Math.max(MIN_SPEED_LIMIT, share))
  return {
    /** The allowed share of full speed for this robot: `MIN_SPEED_LIMIT` to 1. */
    limit,
    /** Changes the limit by this number of steps of 5 %. */
    stepLimit: (steps: number) =>
      limit.update((share) => clamp((Math.round(share / LIMIT_STEP) + steps) * LIMIT_STEP)),
    controls: loadControlProfile(robotType),
    hand: loadHand(),
  }
}

/** Returns the hand that holds the stick on a phone, stored in this browser. */
export const loadHand = (): Store<Hand> =>
  createPersisted<Hand>('wheelhouse-hand', 'right', (text) => (text === 'left' ? 'left' : 'right'))

export const MAX_DEAD_ZONE = 0.5
export const MAX_EXPONENT = 3
/** More axes and buttons than any gamepad has. */
export const MAX_AXES = 16
export const MAX_BUTTONS = 32
/** How much of a gamepad's name is stored. */
export const MAX_PAD_NAME = 200

const indexBelow = (count: number) => z.int().nonnegative().lt(count)
const axis = indexBelow(MAX_AXES)
const button = indexBelow(MAX_BUTTONS)

/** The assignments of a gamepad and how it drives. Numbers of axes and buttons are those of the Gamepad API. */
export const ControlProfile = z.object({
  /** The beginning of the name of the gamepad that drives. Without it, the first with the standard layout drives. */
  pad: z.string().max(MAX_PAD_NAME).optional(),
  /** The axis that drives: forward is negative, unless it is reversed. */
  forwardAxis: axis,
  forwardReversed: z.boolean(),
  /** The axis that turns: left is negative, unless it is reversed. */
  turnAxis: axis,
  turnReversed: z.boolean(),
  stopButton: button,
  /** The stick drives only while this button is held, if `holdToDrive` is set (a dead-man button). */
  holdButton: button,
  holdToDrive: z.boolean(),
  /** The share of the travel that is ignored. */
  deadZone: z.number().min(0).max(MAX_DEAD_ZONE),
  /** The exponent of the curve: 1 is linear, a larger one is finer near the middle. */
  exponent: z.number().min(1).max(MAX_EXPONENT),
  /** Whether gamepad and phone rumble when commands are late or an obstacle is near. */
  rumbles: z.boolean(),
})
export type ControlProfile = z.infer<typeof ControlProfile>

/** The left stick drives; B on an Xbox pad, circle on a PlayStation pad, stops; the right shoulder button is held. */
const standardProfile: ControlProfile = {
  forwardAxis: 1,
  forwardReversed: false,
  turnAxis: 0,
  turnReversed: false,
  stopButton: 1,
  holdButton: 5,
  holdToDrive: false,
  deadZone: 0.15,
  exponent: 1,
  rumbles: true,
}

/** Loads the profile for robots of a type, which this browser stores; the standard one if it cannot be read. */
export const loadControlProfile = (robotType: string): Store<ControlProfile> =>
  createPersisted(
    `wheelhouse-controls:${robotType}`,
    standardProfile,
    (text) => ControlProfile.safeParse(JSON.parse(text)).data ?? standardProfile,
    JSON.stringify,
  )
