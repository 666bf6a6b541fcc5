import { expect, test } from 'vitest'
import { GoalStatuses } from './goal-statuses.ts'

const ros1 = (...statuses: (readonly [id: string, status: number, text?: string])[]) => ({
  status_list: statuses.map(([id, status, text = '']) => ({ goal_id: { id }, status, text })),
})
const ros2 = (...statuses: (readonly [id: number, status: number])[]) => ({
  status_list: statuses.map(([id, status]) => ({
    goal_info: { goal_id: { uuid: new Uint8Array(16).fill(id) } },
    status,
  })),
})

test.each([
  ['actionlib: pending', ros1(['a', 0]), undefined],
  ['actionlib: active', ros1(['a', 1]), undefined],
  ['actionlib: preempted', ros1(['a', 2]), 'canceled'],
  ['actionlib: succeeded', ros1(['a', 3]), 'reached'],
  ['actionlib: aborted', ros1(['a', 4]), 'failed'],
  ['actionlib: rejected', ros1(['a', 5]), 'failed'],
  ['actionlib: preempting', ros1(['a', 6]), undefined],
  ['actionlib: recalled', ros1(['a', 8]), 'canceled'],
  ['ROS 2: accepted', ros2([1, 1]), undefined],
  ['ROS 2: executing', ros2([1, 2]), undefined],
  ['ROS 2: canceling', ros2([1, 3]), undefined],
  ['ROS 2: succeeded', ros2([1, 4]), 'reached'],
  ['ROS 2: canceled', ros2([1, 5]), 'canceled'],
  ['ROS 2: aborted', ros2([1, 6]), 'failed'],
])('%s', (_name, message, status) => {
  const statuses = new GoalStatuses()
  statuses.read({ status_list: [] }, 0)
  statuses.expect(0)
  expect(statuses.read(message, 0)?.status).toBe(status)
})

test('the words of the planner are told', () => {
  const statuses = new GoalStatuses()
  statuses.read(ros1(), 0)
  statuses.expect(0)
  const text = 'Failed to find a valid plan.'
  expect(statuses.read(ros1(['a', 4, text]), 0)).toEqual({ status: 'failed', message: text })
})

test('the first id that appears after the goal is its id', () => {
  const statuses = new GoalStatuses()
  statuses.read(ros1(['old', 1]), 0)
  statuses.expect(0)
  expect(statuses.read(ros1(['old', 2]), 0)).toBeUndefined()
  expect(statuses.read(ros1(['old', 2], ['ours', 1], ['later', 1]), 0)).toBeUndefined()
  expect(statuses.read(ros1(['old', 2], ['ours', 1], ['later', 3]), 0)).toBeUndefined()
  expect(statuses.read(ros1(['ours', 3]), 0)).toEqual({ status: 'reached' })
  expect(statuses.read(ros1(['ours', 4]), 0), 'it ends once').toBeUndefined()
})

test('a goal that is replaced or canceled does not end its successor', () => {
  const statuses = new GoalStatuses()
  statuses.read(ros2(), 0)
  statuses.expect(0)
  statuses.read(ros2([1, 2]), 0)
  statuses.expect(0)
  expect(statuses.read(ros2([1, 6], [2, 2]), 0)).toBeUndefined()
  statuses.forget()
  expect(statuses.read(ros2([1, 6], [2, 5]), 0)).toBeUndefined()
  statuses.expect(0)
  expect(statuses.read(ros2([2, 5], [3, 4]), 0)).toEqual({ status: 'reached' })
})

test('ids of goals before it that appear late are not its own', () => {
  const statuses = new GoalStatuses()
  statuses.read(ros1(), 0)
  statuses.expect(0)
  statuses.expect(10)
  expect(statuses.read(ros1(['first', 2]), 20)).toBeUndefined()
  expect(statuses.read(ros1(['first', 2], ['second', 3]), 30)).toEqual({ status: 'reached' })
  statuses.expect(40)
  statuses.forget()
  statuses.expect(50)
  expect(statuses.read(ros1(['third', 8], ['fourth', 4]), 60)?.status).toBe('failed')
})

test('a goal that never appears does not take the id of a later one', () => {
  const statuses = new GoalStatuses()
  statuses.read(ros1(), 0)
  statuses.expect(0)
  statuses.forget()
  statuses.expect(6_000)
  expect(statuses.read(ros1(['ours', 3]), 6_010)).toEqual({ status: 'reached' })
})

test('in the first array, what has ended is not the goal', () => {
  for (const interrupt of [false, true]) {
    const statuses = new GoalStatuses()
    if (interrupt) {
      statuses.read(ros2([9, 2]), 0)
      statuses.interrupted()
    }
    statuses.expect(0)
    expect(statuses.read(ros2([1, 4], [2, 2]), 0)).toBeUndefined()
    expect(statuses.read(ros2([1, 4], [2, 6]), 0)?.status).toBe('failed')
  }
})

test('arrays that are malformed or too long end nothing', () => {
  const statuses = new GoalStatuses()
  statuses.read(ros1(), 0)
  statuses.expect(0)
  const long = ros1(...Array.from({ length: 1_025 }, (_, index) => [`${index}`, 3] as const))
  const noStatus = { status_list: [{ goal_id: { id: 'a' }, status: null }] }
  for (const message of [
    long,
    null,
    { status_list: 'all' },
    ros1(['', 3], ['x'.repeat(257), 3]),
    { status_list: [null, 7, { status: 4, goal_info: { goal_id: { uuid: [1, 2] } } }] },
    noStatus,
  ])
    expect(statuses.read(message, 0)).toBeUndefined()
  expect(statuses.read(ros1(['a', 3]), 0), 'of the id without a status').toEqual({ status: 'reached' })
})

test('an id that stays in the arrays is never new, however many come and go', () => {
  const statuses = new GoalStatuses()
  for (let round = 0; round < 20; round++) {
    const others = Array.from({ length: 1_000 }, (_, index) => [`${round}-${index}`, 3] as const)
    statuses.read(ros1(['stays', 3], ...others), 0)
  }
  statuses.expect(0)
  expect(statuses.read(ros1(['stays', 3]), 0)).toBeUndefined()
  expect(statuses.read(ros1(['stays', 3], ['new', 3]), 0)).toEqual({ status: 'reached' })
})
