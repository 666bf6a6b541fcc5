import type { KyselyPlugin } from 'kysely'
import { createJobs, type Jobs } from '../../../src/core/jobs/jobs.ts'
import { createPayments, type Payments } from '../../../src/modules/payments/module.ts'
import { createStripeClient } from '../../../src/modules/payments/stripe-client.ts'
import { noHints } from '../world/jobs.ts'
import type { World } from '../world/world.ts'
import { WEBHOOK_SECRET } from './events.ts'
import type { FakeStripe } from './server.ts'

/**
 * Ends a process after a number of its steps, which are its queries, its transactions and its requests to the provider.
 * After that, none of its pending operations completes.
 */
class Life {
  readonly ended: Promise<'died'>
  private end: (how: 'died') => void = () => {}
  private left: number

  constructor(steps: number) {
    this.left = steps
    this.ended = new Promise((resolve) => {
      this.end = resolve
    })
  }

  /** Whether the process has ended. Its timers may still run. */
  get isOver(): boolean {
    return this.left < 0
  }

  /** Counts a step. Settles unless it was the last one. */
  async goOn<T>(result: T): Promise<T> {
    this.left--
    if (this.left >= 0) return result
    this.end('died')
    return await new Promise<never>(() => {})
  }
}

/** Creates the jobs of a process that ends after a number of steps. Its heartbeats end with it. */
function crashableJobs({ platform }: World, now: () => Date, life: Life): Jobs {
  const pool = async () => {
    const real = await platform.core.pool()
    const query = async (text: string, values: unknown[]) => {
      if (life.isOver) return await new Promise<never>(() => {})
      return await life.goOn(await real.query(text, values))
    }
    return Object.assign(Object.create(real), { query })
  }
  return createJobs({ ...platform.core, pool, now, hints: noHints, observe: () => {}, supervise: false })
}

/** Payments in a process that ends after a number of steps. */
function crashablePayments(
  world: World,
  stripe: FakeStripe,
  now: () => Date,
  life: Life,
  jobs: Jobs,
): Payments {
  const { platform } = world
  const settings = {
    secretKey: stripe.env.STRIPE_SECRET_KEY,
    apiBase: stripe.env.STRIPE_API_BASE,
    webhookSecrets: [WEBHOOK_SECRET],
  }
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => life.goOn(result),
  }
  const payments = createPayments({
    ...platform.core,
    ...platform.identity,
    ...platform.clients,
    ...platform.operators,
    settings,
    now,
    jobs,
    db: platform.core.db.withPlugin(plugin),
    transact: async (work, ...rest) => await life.goOn(await platform.core.transact(work, ...rest)),
    paymentProvider: crashable(createStripeClient(settings), life),
  })
  if (!payments) throw new Error('no payments')
  return payments
}

/** Wraps the library; each of its answers is a step. */
function crashable<T extends object>(target: T, life: Life): T {
  return new Proxy(target, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name)
      if (typeof value === 'function') {
        return (...args: unknown[]) => {
          const answer: unknown = value.apply(of, args)
          return answer instanceof Promise ? crashableResult(answer, life) : answer
        }
      }
      return typeof value === 'object' && value !== null ? crashable(value, life) : value
    },
  })
}

/** Lists can be awaited and iterated. */
function crashableResult(
  answer: Promise<unknown> & { [Symbol.asyncIterator]?: () => AsyncIterator<unknown> },
  life: Life,
) {
  const list = answer[Symbol.asyncIterator]?.bind(answer)
  const crashableList =
    list &&
    (() => {
      const each = list()
      return { next: async () => await life.goOn(await each.next()) }
    })
  const done = answer.then((result) => life.goOn(result))
  done.catch(() => {}) // a caller that iterates the list does not await it
  return Object.assign(done, { [Symbol.asyncIterator]: crashableList })
}

/** Runs work in a simulated process; returns `died` when it ended before the work was done. */
export async function inProcess<T>(
  parts: { world: World; stripe: FakeStripe; now: () => Date; steps: number },
  work: (payments: Payments, jobs: Jobs) => Promise<T>,
): Promise<T | 'died'> {
  const { world, stripe, now, steps } = parts
  const life = new Life(steps)
  const jobs = crashableJobs(world, now, life)
  const payments = crashablePayments(world, stripe, now, life, jobs)
  return await Promise.race([work(payments, jobs), life.ended])
}
