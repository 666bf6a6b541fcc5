import type { RobotBench } from './robot-bench.ts'
import { inMs, judge, judgeTime, NotTested, type Rule } from './rule.ts'

const DUTIES = 'protocol-robot.md#duties-of-a-robot'
const LATCHED = 'protocol-robot.md#the-latched-stop'
const REASON = 'a person <b>fell</b> – “stop”'
const LONGEST_REASON = 500

const stop = { type: 'stop', reason: REASON, latched: true }

/** How long a rule about something else waits for a robot that halts slowly. */
const LONGEST_HALT_MS = 10_000

/** Stops the robot while it moves. */
async function stopMoving(bench: RobotBench) {
  await bench.begin()
  await bench.drive()
  const sentMs = performance.now()
  bench.send(stop)
  const haltMs = bench.hasMotion ? await bench.haltedAfter(sentMs, LONGEST_HALT_MS) : 0
  const answer = await bench.stoppedAfter(sentMs, bench.haltLimitMs)
  return { haltMs, answer, answerMs: answer && Math.max(0, answer.atMs - sentMs - (haltMs ?? 0)) }
}

/** The first stop of a robot, about which three rules ask. */
const firstStops = new WeakMap<RobotBench, ReturnType<typeof observeStop>>()

async function observeStop(bench: RobotBench) {
  const { haltMs, answer, answerMs } = await stopMoving(bench)
  await bench.nextSamples(2)
  const moving = answer ? bench.samples(answer.atMs).filter((sample) => sample.moving) : []
  const movedMs = (moving.at(-1)?.atMs ?? 0) - (answer?.atMs ?? 0)
  await clear(bench)
  return { haltMs, answer, answerMs, movedMs: moving.length > 0 ? movedMs : undefined }
}

function firstStop(bench: RobotBench): ReturnType<typeof observeStop> {
  const known = firstStops.get(bench) ?? observeStop(bench)
  firstStops.set(bench, known)
  return known
}

/** Halts the robot by a latched stop. @throws NotTested if it does not answer */
async function stopped(bench: RobotBench): Promise<void> {
  const { answer } = await stopMoving(bench)
  if (!answer) throw new NotTested('it did not answer the stop')
  await bench.nextSamples(2)
}

async function clear(bench: RobotBench): Promise<void> {
  bench.send({ type: 'stop_cleared' })
  await bench.nextSamples(1)
}

/** The rules about stops. */
export const stopRules: readonly Rule<RobotBench>[] = [
  {
    id: 'stop-time',
    title: 'Halts on a stop',
    protects: 'the person for whose sake somebody stops the robot',
    duty: LATCHED,
    quick: true,
    async test(bench) {
      const { haltMs } = await firstStop(bench)
      bench.needMotion()
      return judgeTime(haltMs, bench.haltLimitMs)
    },
  },
  {
    id: 'stop-answer',
    title: 'Answers a stop with stopped when it has halted',
    protects: 'the person who stops the robot, and sees whether it worked',
    duty: LATCHED,
    quick: true,
    async test(bench) {
      const { answer, answerMs } = await firstStop(bench)
      const reason = answer?.fields.reason
      const isValid = typeof reason === 'string' && reason.length <= LONGEST_REASON
      if (answer && !isValid)
        return judge(false, 'its reason is no text', `a text of up to ${LONGEST_REASON} characters`)
      return judgeTime(answerMs, bench.haltLimitMs)
    },
  },
  {
    id: 'stop-honest',
    title: 'Answers a stop only after it has halted',
    protects: 'the person who approaches a robot because the console says that it is stopped',
    duty: DUTIES,
    quick: true,
    async test(bench) {
      const { answer, movedMs } = await firstStop(bench)
      bench.needMotion()
      if (!answer) throw new NotTested('it did not answer the stop')
      const measured = movedMs === undefined ? 'halted' : `moved for ${inMs(movedMs)} after its answer`
      return judge(movedMs === undefined, measured, 'halted when it answers')
    },
  },
  {
    id: 'stop-repeated',
    title: 'Answers every stop, also a repeated one',
    protects: 'the person who stops the robot: the first answer may have been lost',
    duty: LATCHED,
    quick: false,
    async test(bench) {
      await stopped(bench)
      for (let repeat = 1; repeat <= 3; repeat++) {
        const sentMs = performance.now()
        bench.send(stop)
        const answer = await bench.stoppedAfter(sentMs, bench.haltLimitMs)
        if (!answer) return judge(false, `no answer to repetition ${repeat}`, 'an answer to each stop')
      }
      await clear(bench)
      return judge(true, '3 of 3 answered', 'an answer to each stop')
    },
  },
  {
    id: 'stop-latched',
    title: 'Stays halted under a latched stop, whatever arrives',
    protects: 'the person who works on a stopped robot',
    duty: LATCHED,
    quick: true,
    async test(bench) {
      await stopped(bench)
      const commands = await bench.refuses(() => bench.command(), { afterwards: false })
      // Neither the state of the session nor another stop releases it.
      bench.send({ type: 'session', ...bench.session() })
      bench.send({ type: 'stop', reason: 'session_paused', latched: false })
      const later = commands ?? (await bench.refuses(() => bench.command(), { afterwards: false }))
      await clear(bench)
      return judge(later === undefined, later ?? 'halted', 'halted until stop_cleared')
    },
  },
  {
    id: 'stop-cleared',
    title: 'Does not move after stop_cleared without a new command, and moves with one',
    protects: 'the person beside a robot whose stop is cleared from afar',
    duty: DUTIES,
    quick: true,
    async test(bench) {
      await stopped(bench)
      bench.send({ type: 'stop_cleared' })
      const samples = await bench.nextSamples(4)
      if (samples.some(({ moving }) => moving))
        return judge(false, 'it moved by itself', 'halted until a new command')
      const moves = await bench.drives()
      return judge(
        moves,
        moves ? 'halted, then obeys' : 'it does not obey any more',
        'it obeys a new command',
      )
    },
  },
  {
    id: 'stop-welcome',
    title: 'Obeys and answers a stop in the welcome',
    protects: 'the person at a stopped robot that starts again',
    duty: LATCHED,
    quick: false,
    async test(bench) {
      const sentMs = performance.now()
      await bench.restart({ stop: { reason: REASON, latched: true } })
      const answer = await bench.stoppedAfter(sentMs, bench.settings.connectLimitMs)
      if (!answer) return judge(false, 'no answer', 'it answers with stopped')
      const evidence = await bench.refuses(() => bench.command(), { afterwards: false })
      return judge(evidence === undefined, evidence ?? 'halted, answered', 'halted until stop_cleared')
    },
  },
]
