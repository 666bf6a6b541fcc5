import { recordingTopics } from '@wheelhouse/protocol'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import type { McapFileReader } from '../../recordings/mcap/index.ts'
import { type EpisodeInput, periodOf } from './dataset-input.ts'
import {
  declaredFeatures,
  type FeatureSet,
  haveSameFields,
  policyFeature,
  type SchemaTexts,
  type DeclaredSource as Source,
} from './features.ts'
import { createFeatureInference } from './infer-features.ts'
import { policyPartIn } from './policy-part.ts'
import { messageContent } from './slot-values.ts'

const SOURCES: readonly Source[] = ['telemetry', 'control']
/** Messages from which the features of a robot without a schema are taken. */
const INFERRED_FROM = 100

interface Found {
  readonly features: FeatureSet
  /** The episode that they come from. */
  readonly episodeId: string
  readonly isDeclared: boolean
}

async function schemasOf(reader: McapFileReader): Promise<SchemaTexts> {
  for await (const { metadata } of reader.readMetadata({ name: 'schemas' }))
    return { control: metadata.get('control_schema'), telemetry: metadata.get('telemetry_schema') }
  return { control: undefined, telemetry: undefined }
}

async function inferFrom(
  reader: McapFileReader,
  episode: EpisodeInput,
  source: Source,
): Promise<FeatureSet | undefined> {
  const inference = createFeatureInference(source)
  const { startNs, endNs } = periodOf(episode)
  let count = 0
  const messages = reader.readMessages({
    topics: [recordingTopics[source]],
    startTime: startNs,
    endTime: endNs,
  })
  for await (const { data } of messages) {
    inference.add(messageContent(data)?.data)
    if (++count >= INFERRED_FROM) break
  }
  const features = inference.features()
  return features.vectors.length > 0 ? features : undefined
}

/**
 * Collects the features of a dataset: those that the robot declared, which must be the same in all recordings, otherwise those of
 * the first messages. If a policy takes part in an episode, its commands are a feature as well.
 */
export function createFeatureCollection() {
  const found = new Map<Source, Found>()
  const known = new Map<string, ReturnType<typeof declaredFeatures>>()
  let hasPolicy = false

  async function declaredIn(reader: McapFileReader, key: string) {
    const features = known.get(key) ?? declaredFeatures(await schemasOf(reader))
    known.clear() // only the newest recording is read again
    known.set(key, features)
    return features
  }

  return {
    async add(reader: McapFileReader, episode: EpisodeInput): Promise<void> {
      const declared = await declaredIn(reader, episode.recording.key)
      hasPolicy ||= (await policyPartIn(reader, periodOf(episode))) !== undefined
      for (const source of SOURCES) {
        const [first, features] = [found.get(source), declared[source]]
        if (features && first?.isDeclared) requireSame(source, first, features, episode.id)
        else if (features) found.set(source, { features, episodeId: episode.id, isDeclared: true })
        else if (!first) {
          const inferred = await inferFrom(reader, episode, source)
          if (inferred) found.set(source, { features: inferred, episodeId: episode.id, isDeclared: false })
        }
      }
    },

    result(): FeatureSet & { readonly inferred: readonly Source[] } {
      const sets = SOURCES.map((source) => found.get(source))
      const policy = hasPolicy ? found.get('control')?.features.vectors.map(policyFeature) : undefined
      return {
        vectors: [...sets.flatMap((set) => set?.features.vectors ?? []), ...(policy ?? [])],
        omitted: sets.flatMap((set) => set?.features.omitted ?? []),
        inferred: SOURCES.filter((source) => found.get(source)?.isDeclared === false),
      }
    },
  }
}

function requireSame(source: Source, first: Found, features: FeatureSet, episodeId: string): void {
  if (haveSameFields(first.features, features)) return
  throw new ExportProblem(
    `The ${source} schema of the robot is not the same in the episodes ${first.episodeId} and ${episodeId}. Export them as two datasets.`,
  )
}
