/** Pseudorandom numbers, reproducible by seed. */
export interface Random {
  /** Returns a number of at least `min`, below `max`. */
  between(min: number, max: number): number
  /** Returns a whole number from 0 to `count` − 1. */
  below(count: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
  /** Returns an independent generator: the draws of one actor do not influence those of another. */
  fork(name: string): Random
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  /** Creates the generator "mulberry32": 32 bits of state, evenly distributed. */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    between: (min, max) => min + next() * (max - min),
    below,
    chance: (share) => next() < share,
    pick(items) {
      if (items.length === 0) throw new RangeError('nothing to pick from')
      return items[below(items.length)] as (typeof items)[number]
    },
    shuffled(items) {
      const left = [...items]
      return items.map(() => left.splice(below(left.length), 1)[0] as (typeof items)[number])
    },
    fork: (name) => createRandom(hash(`${seed} ${name}`)),
  }
}

/** Computes the FNV-1a hash of 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
