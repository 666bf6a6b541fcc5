import { afterEach, expect, test, vi } from 'vitest'
import { createCommandSender } from './command-sender.ts'
import { axesOf, createGamepadInput } from './gamepad.ts'
import type { ControlProfile } from './preferences.ts'

afterEach(() => vi.unstubAllGlobals())

const profile: ControlProfile = {
  forwardAxis: 1,
  forwardReversed: false,
  turnAxis: 0,
  turnReversed: false,
  stopButton: 1,
  holdButton: 5,
  holdToDrive: false,
  deadZone: 0,
  exponent: 1,
  rumbles: true,
}
const pad = (axes: readonly number[], held: readonly number[] = []) => ({
  axes,
  buttons: Array.from({ length: 8 }, (_, index) => ({ pressed: held.includes(index) })),
})

test('the left stick drives: up is forward, left is left', () => {
  expect(axesOf(pad([0, -1]), profile)).toEqual({ forward: 1, left: 0 })
  expect(axesOf(pad([-0.5, 0]), profile)).toEqual({ forward: 0, left: 0.5 })
})

test('axes can be others, and reversed', () => {
  const other = { ...profile, forwardAxis: 3, forwardReversed: true, turnAxis: 2 }
  expect(axesOf(pad([1, 1, -1, 0.5]), other)).toEqual({ forward: 0.5, left: 1 })
  expect(axesOf(pad([0, -1]), { ...profile, forwardAxis: 9 })).toEqual({ forward: 0, left: 0 })
})

test('the curve is finer near the middle and keeps full speed', () => {
  const curve = { ...profile, exponent: 2 }
  expect(axesOf(pad([0, -0.5]), curve).forward).toBeCloseTo(0.25)
  expect(axesOf(pad([0, 0.5]), curve).forward).toBeCloseTo(-0.25)
  expect(axesOf(pad([0, -1]), curve).forward).toBe(1)
})

test('the dead zone is ignored, and the rest of the travel begins at 0', () => {
  const dead = { ...profile, deadZone: 0.2 }
  expect(axesOf(pad([0, -0.2]), dead).forward).toBe(0)
  expect(axesOf(pad([0, -0.6]), dead).forward).toBeCloseTo(0.5)
})

test('with a button to hold, the stick drives only while it is held', () => {
  const held = { ...profile, holdToDrive: true }
  expect(axesOf(pad([0, -1]), held)).toEqual({ forward: 0, left: 0 })
  expect(axesOf(pad([0, -1], [4]), held)).toEqual({ forward: 0, left: 0 })
  expect(axesOf(pad([0, -1], [5]), held)).toEqual({ forward: 1, left: 0 })
})

interface SimulatedPad {
  readonly id: string
  readonly index: number
  readonly mapping: '' | 'standard'
  connected: boolean
  axes: number[]
  readonly buttons: { pressed: boolean }[]
}

const simulatedPad = (index: number, mapping: SimulatedPad['mapping'], axes = [0, 0]): SimulatedPad => ({
  id: `Pad ${index}`,
  index,
  mapping,
  connected: true,
  axes,
  buttons: Array.from({ length: 8 }, () => ({ pressed: false })),
})

/** Simulates the gamepads of a browser, its animation frames, and the sender of commands. */
function openPads(pads: readonly (SimulatedPad | null)[], changes: Partial<ControlProfile> = {}) {
  let poll: ((nowMs: number) => void) | undefined
  let nowMs = 0
  const commands: number[] = []
  const stops: number[] = []
  const isAllowed = { now: true }
  let current = { ...profile, deadZone: 0.15, ...changes }
  vi.stubGlobal('requestAnimationFrame', (next: (nowMs: number) => void) => {
    poll = next
    return 1
  })
  vi.stubGlobal('cancelAnimationFrame', () => undefined)
  vi.stubGlobal('navigator', { getGamepads: () => pads })
  const sender = createCommandSender({
    send: ({ forward }) => commands.push(forward as number),
    commandOf: ({ axes: { forward } }) => ({ forward }),
    allowed: () => isAllowed.now,
    limit: () => 1,
  })
  const input = createGamepadInput({
    steer: (axes) => sender.steer('gamepad', axes),
    stop: () => {
      sender.release()
      input.release()
      stops.push(nowMs)
    },
    profile: () => current,
  })
  const run = (durationMs: number) => {
    for (const endMs = nowMs + durationMs; nowMs < endMs; nowMs += 16) poll?.(nowMs)
  }
  const isMoving = () => {
    commands.length = 0
    run(100)
    sender.release()
    return commands.some((forward) => forward !== 0)
  }
  const choose = (pad: string) => {
    current = { ...current, pad }
  }
  return { input, sender, run, isMoving, stops, isAllowed, choose }
}

test('the stop button of every gamepad stops, also of one that does not drive', () => {
  const pads = [simulatedPad(0, 'standard'), simulatedPad(1, 'standard'), simulatedPad(2, '')]
  const { run, stops } = openPads(pads)
  run(300)
  for (const [count, { buttons }] of pads.entries()) {
    const [, stop] = buttons
    if (stop) stop.pressed = true
    run(50)
    expect(stops).toHaveLength(count + 1)
  }
})

test('a gamepad without the standard layout drives only when it was chosen', () => {
  const phantom = simulatedPad(0, '', [0, 0])
  const { input, run, isMoving, choose } = openPads([phantom, null])
  run(300)
  phantom.axes = [0, -1]
  expect(isMoving()).toBe(false)
  expect(input.state.get()).toEqual({ phase: 'unknown', name: 'Pad 0' })
  phantom.axes = [0, 0]
  choose('Pad 0')
  run(300)
  expect(input.state.get()).toEqual({ phase: 'ready', name: 'Pad 0' })
  phantom.axes = [0, -1]
  expect(isMoving()).toBe(true)
})

test('the chosen gamepad drives instead of the first one', () => {
  const [first, second] = [simulatedPad(0, 'standard'), simulatedPad(1, 'standard')]
  const { run, isMoving } = openPads([first, second], { pad: 'Pad 1' })
  run(300)
  first.axes = [0, -1]
  expect(isMoving()).toBe(false)
  second.axes = [0, -1]
  expect(isMoving()).toBe(true)
})

test.each([0, 1])(
  'a gamepad that connects with its stick held drives after it was at rest (pad %i)',
  (index) => {
    const pads = [simulatedPad(0, 'standard'), simulatedPad(1, 'standard')]
    for (const pad of pads) pad.connected = false
    const pad = pads[index] as SimulatedPad
    const { input, run, isMoving } = openPads(pads)
    run(300)
    pad.axes = [0, 0.5]
    pad.connected = true
    run(1_000)
    expect(isMoving()).toBe(false)
    expect(input.state.get()).toMatchObject({ phase: 'waiting' })
    pad.axes = [0, 0]
    run(50) // passing the middle is no rest
    pad.axes = [0, -0.5]
    expect(isMoving()).toBe(false)
    pad.axes = [0, 0]
    run(300)
    pad.axes = [0, 0.5]
    expect(isMoving()).toBe(true)
  },
)

test('an axis that is deflected without the button to hold does not drive when it is held', () => {
  const wheel = simulatedPad(0, 'standard', [0, 0.5])
  const { run, isMoving } = openPads([wheel], { holdToDrive: true })
  run(500)
  const hold = wheel.buttons[profile.holdButton]
  if (hold) hold.pressed = true
  expect(isMoving()).toBe(false)
})

type Pads = ReturnType<typeof openPads>

const interruptions: Record<string, (pads: Pads) => void> = {
  'a stop': ({ sender, input }) => {
    sender.release()
    input.release()
  },
  'a pause': ({ isAllowed, run }) => {
    isAllowed.now = false
    run(500)
    isAllowed.now = true
  },
  'the sheet of controls': ({ input, run }) => {
    input.suspend(true)
    run(500)
    input.suspend(false)
  },
}

test.each(Object.entries(interruptions))(
  'a stick that is held through %s drives after it was at rest',
  (_, interrupt) => {
    const pad = simulatedPad(0, 'standard')
    const pads = openPads([pad])
    pads.run(300)
    pad.axes = [0, -1]
    pads.run(50)
    interrupt(pads)
    expect(pads.isMoving()).toBe(false)
    pad.axes = [0, 0]
    pads.run(300)
    pad.axes = [0, -1]
    expect(pads.isMoving()).toBe(true)
  },
)

test('a stick that reports rest while the window has no focus must be at rest after it has', () => {
  const pad = simulatedPad(0, 'standard')
  const { input, run, isMoving } = openPads([pad])
  run(500)
  input.release() // the window has the focus again
  run(50)
  pad.axes = [0, -1]
  expect(isMoving()).toBe(false)
})
