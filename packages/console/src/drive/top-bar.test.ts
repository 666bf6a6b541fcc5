import type { DriveState } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { robotWord } from './top-bar.tsx'

const online = { phase: 'online' } as const
const active = { status: 'ACTIVE', isStopped: false, isSilent: false } as const
const driving: DriveState = {
  type: 'state',
  status: 'ACTIVE',
  robot_connected: true,
  stop: null,
}

test('the word for the robot is by the gateway, otherwise by the session', () => {
  expect(robotWord(online, driving, active)).toBe('DRIVING')
  expect(robotWord(online, { ...driving, robot_connected: false }, active)).toBe('LOST')
  expect(robotWord({ phase: 'offline' }, driving, { ...active, isStopped: true })).toBe('STOPPED')
})

test('from a second of silence on, the page does not know what the robot does', () => {
  expect(robotWord(online, driving, { ...active, isSilent: true })).toBe('UNKNOWN')
  expect(robotWord({ phase: 'offline' }, driving, { ...active, isSilent: true })).toBe('UNKNOWN')
})
