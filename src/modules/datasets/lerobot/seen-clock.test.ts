import { expect, test } from 'vitest'
import { SeenClock } from './seen-clock.ts'

const front = (ms: number) => new Map([['front', ms]])

test('commands have the time of the picture that they answer, at their own distances', () => {
  const clock = new SeenClock('front')
  const commands = [
    [front(100), 300],
    [front(100), 320],
    [front(100), 340],
    [front(166), 360],
    [front(166), 460],
    [front(700), 910],
  ] as const
  expect(commands.map(([seen, atMs]) => clock.commandMs(seen, atMs))).toEqual([100, 120, 140, 166, 266, 700])
})

test('the order of commands remains, also when pictures come in another one', () => {
  const clock = new SeenClock('front')
  expect(clock.commandMs(front(200), 300)).toBe(200)
  expect(clock.commandMs(front(150), 310)).toBe(200)
  expect(clock.commandMs(new Map(), 320)).toBe(320)
  expect(clock.commandMs(front(250), 330)).toBe(320)
})

test('a picture from the future, or from long ago, does not count', () => {
  expect(new SeenClock('front').commandMs(front(301), 300)).toBe(300)
  expect(new SeenClock('front').commandMs(front(0), 5_001)).toBe(5_001)
  expect(new SeenClock('front').commandMs(front(0), 5_000)).toBe(0)
})

test('without its camera, the newest picture counts', () => {
  const seen = new Map([
    ['wrist', 120],
    ['rear', 90],
  ])
  expect(new SeenClock('front').commandMs(seen, 200)).toBe(120)
  expect(new SeenClock(undefined).commandMs(seen, 200)).toBe(120)
  expect(new SeenClock('rear').commandMs(seen, 200)).toBe(90)
})
