import { decodeOrderedFrame } from '@wheelhouse/protocol'
import { beforeEach, describe, expect, test } from 'vitest'
import type { GatewayConnection } from '../base/connection.ts'
import { OrderedFrames } from './ordered-frames.ts'

type Frame = string | ArrayBuffer | Uint8Array

/** The frames given to each transport, and the behaviour of each. */
let overSocket: Frame[]
let overChannel: Frame[]
let channel: { trusted: boolean; send: (frame: Frame) => boolean } | null
let flows: boolean
let frames: OrderedFrames

const control = '{"type":"control","seq":1}'
const stop = '{"type":"stop","latched":true}'
const parsed = (sent: readonly Frame[]) => sent.map((frame) => JSON.parse(frame as string))

beforeEach(() => {
  overSocket = []
  overChannel = []
  flows = true
  channel = { trusted: false, send: (frame) => overChannel.push(frame) > 0 }
  const connection = {
    get channel() {
      return channel
    },
    send: (frame: Frame) => void overSocket.push(frame),
    sendIfFlowing: (frame: Frame) => flows && overSocket.push(frame) > 0,
  }
  frames = new OrderedFrames(connection as unknown as GatewayConnection)
})

test('without an answered offer, frames travel over the WebSocket unchanged', () => {
  channel = null
  frames.sendSession('{"type":"session"}', 0)
  frames.sendLimits('{"type":"limits"}', 0)
  frames.sendControl(control, 0)
  frames.sendStop(stop, 0)
  frames.sendStopCleared('{"type":"stop_cleared"}', 0)
  expect(overSocket).toEqual([
    '{"type":"session"}',
    '{"type":"limits"}',
    control,
    stop,
    '{"type":"stop_cleared"}',
  ])
})

describe('after an answered offer', () => {
  beforeEach(() => frames.beginNumbering())

  test('all frames are numbered in their order; control and limits name the session before them', () => {
    channel = null
    frames.sendControl(control, 0)
    frames.sendSession('{"type":"session"}', 0)
    frames.sendLimits('{"type":"limits"}', 0)
    frames.sendControl(control, 0)
    frames.sendStop(stop, 0)
    frames.sendStopCleared('{"type":"stop_cleared"}', 0)
    expect(parsed(overSocket).map(({ type, order, after }) => [type, order, after])).toEqual([
      ['control', 1, 0],
      ['session', 2, undefined],
      ['limits', 3, 2],
      ['control', 4, 2],
      ['stop', 5, undefined],
      ['stop_cleared', 6, undefined],
    ])
    expect(parsed(overSocket)[0]).toEqual({ ...JSON.parse(control), order: 1, after: 0 })
  })

  test('binary control is wrapped, with the frame unchanged inside', () => {
    frames.sendSession('{"type":"session"}', 0)
    frames.sendControl(Uint8Array.of(1, 2, 3).buffer, 0)
    expect(decodeOrderedFrame(overChannel[0] as Uint8Array)).toEqual({
      order: 2,
      after: 1,
      frame: Uint8Array.of(1, 2, 3),
    })
  })

  test('control uses a trusted channel only, any other one together with the WebSocket', () => {
    frames.sendControl(control, 0)
    Object.assign(channel ?? {}, { trusted: true })
    frames.sendControl(control, 0)
    expect(parsed(overChannel).map(({ order }) => order)).toEqual([1, 2])
    expect(parsed(overSocket).map(({ order }) => order)).toEqual([1])
  })

  test('control that the trusted channel does not take uses the WebSocket', () => {
    channel = { trusted: true, send: () => false }
    expect(frames.sendControl(control, 0)).toBe(true)
    expect(overSocket).toHaveLength(1)
    flows = false
    expect(frames.sendControl(control, 0)).toBe(false)
  })

  test('stops and limits use both transports with the same number, a repeated stop with a new one', () => {
    Object.assign(channel ?? {}, { trusted: true })
    frames.sendStop(stop, 0)
    frames.sendLimits('{"type":"limits"}', 0)
    frames.repeatStop(stop, 0)
    expect(overChannel).toEqual(overSocket)
    expect(parsed(overChannel).map(({ order }) => order)).toEqual([1, 2, 3])
    flows = false
    frames.repeatStop(stop, 0)
    expect([overChannel.length, overSocket.length]).toEqual([4, 3])
  })
})
