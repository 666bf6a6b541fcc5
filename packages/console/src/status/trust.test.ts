import { expect, test } from 'vitest'
import type { Freshness } from '../freshness/freshness.ts'
import { trustOf } from './trust.ts'

const live: Freshness = { state: 'LIVE', ageMs: 40, oldest: 'telemetry', isPictureUnknown: false }
const delayed: Freshness = { ...live, state: 'DELAYED', ageMs: 560, oldest: 'picture' }
const blind: Freshness = { ...live, state: 'BLIND', ageMs: 3_400, oldest: 'picture' }
const silent: Freshness = { ...blind, oldest: 'link' }
const connecting: Freshness = { ...live, state: 'CONNECTING', ageMs: 0, oldest: 'firstPicture' }

const driving = { isConnected: true, isStopped: false, isPaused: false }
const paused = { ...driving, isPaused: true }
const stopped = { ...paused, isStopped: true }
const lost = { ...paused, isConnected: false }

test.each([
  ['a live picture of a robot that drives', live, driving, 'LIVE'],
  ['a live picture of a paused robot', live, paused, 'PAUSED'],
  ['a late picture of a paused robot', delayed, paused, 'DELAYED'],
  ['a picture that is awaited', connecting, paused, 'CONNECTING'],
  ['an old picture of a robot that drives', blind, driving, 'BLIND'],
  ['an old picture of a stopped robot', blind, stopped, 'STOPPED'],
  ['a robot that is gone', blind, lost, 'LOST'],
  ['a stopped robot that is gone', live, { ...stopped, isConnected: false }, 'LOST'],
  ['a silent connection, whatever it said before', silent, stopped, 'BLIND'],
  ['a picture alone', live, undefined, 'LIVE'],
] as const)('%s', (_case, freshness, robot, state) => {
  expect(trustOf(freshness, robot).state).toBe(state)
})

test('the age is that of the freshness, with its cause, and missing where it says nothing', () => {
  expect(trustOf(blind, driving)).toEqual({ state: 'BLIND', ageMs: 3_400, cause: 'picture' })
  expect(trustOf(silent, lost)).toEqual({ state: 'BLIND', ageMs: 3_400, cause: 'link' })
  expect(trustOf(blind, lost)).toEqual({ state: 'LOST', ageMs: 3_400, cause: 'telemetry' })
  expect(trustOf(live, lost).ageMs).toBeUndefined()
  expect(trustOf(live, stopped).ageMs).toBeUndefined()
  expect(trustOf(connecting)).toEqual({ state: 'CONNECTING', ageMs: undefined, cause: 'firstPicture' })
})
