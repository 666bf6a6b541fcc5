import { expect, test } from 'vitest'
import type { ControlProfile } from './control-profile.ts'
import { axesOf } from './gamepad.ts'

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
