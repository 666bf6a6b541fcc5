import { isSpeedField } from '@wheelhouse/protocol'
import { type DeclaredSource, type FeatureSet, inferredFeatures, type NumberSlot } from './features.ts'

/** Bounds for messages of robots without a schema, which may hold anything. */
const MAX_DEPTH = 8
/** Most fields that are found in the messages without a schema. */
const MAX_LEAVES = 256
/** Most items that are read of one array without a schema. */
const MAX_ITEMS = 2_048
/** Names that can be part of a feature's name. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_ ./:-]{0,63}$/u

interface FoundLeaf {
  readonly path: readonly string[]
  items: number
  readonly kind: 'number' | 'boolean'
  readonly isArray: boolean
}

/** Collects the numbers of messages without a schema. */
export function createFeatureInference(source: DeclaredSource) {
  const found = new Map<string, FoundLeaf>()

  function add(path: readonly string[], leaf: Omit<FoundLeaf, 'path'>): void {
    const key = JSON.stringify(path)
    const known = found.get(key)
    if (known) known.items = Math.max(known.items, leaf.items)
    else if (found.size < MAX_LEAVES) found.set(key, { path, ...leaf })
  }

  function visit(value: unknown, path: readonly string[]): void {
    if (typeof value === 'number' || typeof value === 'boolean') {
      add(path, { items: 1, kind: typeof value as FoundLeaf['kind'], isArray: false })
      return
    }
    if (typeof value !== 'object' || value === null || path.length >= MAX_DEPTH) return
    if (Array.isArray(value)) {
      const isVector = value.length > 0 && value.length <= MAX_ITEMS && value.every(isNumber)
      if (isVector) add(path, { items: value.length, kind: 'number', isArray: true })
      return
    }
    for (const [name, inner] of Object.entries(value)) if (NAME.test(name)) visit(inner, [...path, name])
  }

  return {
    /** Adds the fields of a message. */
    add: (data: unknown): void => {
      if (typeof data === 'object' && data !== null && !Array.isArray(data)) visit(data, [])
    },
    /** Returns the features, in the order of the names, so that it does not depend on the message that came first. */
    features(): FeatureSet {
      const leaves = [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
      return inferredFeatures(
        source,
        leaves.map(([, leaf]) => ({ path: leaf.path, slots: slotsOf(leaf) })),
      )
    },
  }
}
const isNumber = (value: unknown): boolean => typeof value === 'number'

function slotsOf({ path, items, kind, isArray }: FoundLeaf): NumberSlot[] {
  const slot = { kind, unit: null, choices: [], neutral: 0, isSpeed: isSpeedField(path[0]) }
  if (!isArray) return [{ path, ...slot }]
  return Array.from({ length: items }, (_, index) => ({ path: [...path, index], ...slot }))
}
