import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../../core/http/fields.ts'
import { LeftOut } from '../left-out.ts'
import {
  DatasetAlign,
  DatasetAlignment,
  DatasetExportFormat,
  DatasetExportStatus,
  DatasetGaps,
} from './dataset-export.entity.ts'

/** Most episodes of one dataset export. */
export const MAX_EPISODES = 10_000
/** Most datasets of one export. */
const MAX_DATASETS = 100
/** Most cameras of one export. */
const MAX_CAMERAS = 16
const MAX_CAMERA_NAME = 64

/**
 * Names that `huggingface_hub` accepts, too: it refuses `--`, `..`, the ending `.git`, and a name that does not end with a letter,
 * a digit or an underscore.
 */
const DatasetName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,95}$/,
    'must have 1 to 96 small letters, digits, dots, underscores and hyphens',
  )
  .refine(
    (name) => !/\.\.|--|[.-]$|\.git$/.test(name),
    'must not contain ".." or "--", and not end with a dot, a hyphen or ".git"',
  )

const count = z.number().int()
const distinct = (values: readonly string[]) => new Set(values).size === values.length

/** Body of POST /api/client/datasets/exports. */
export const CreateDatasetExport = z
  .strictObject({
    format: DatasetExportFormat,
    name: DatasetName.meta({
      description: 'The same name again makes the next version of the dataset.',
      examples: ['pick-and-place'],
    }),
    fps: count
      .min(1)
      .max(120)
      .meta({
        description:
          'Rows for each second. At the rate of a camera, its video is stored without transcoding.',
        examples: [30],
      }),
    episode_ids: z
      .array(idOf('episode'))
      .min(1)
      .max(MAX_EPISODES)
      .refine(distinct, 'must not repeat an episode')
      .optional(),
    dataset_ids: z
      .array(idOf('dataset'))
      .min(1)
      .max(MAX_DATASETS)
      .meta({ description: 'Exports all episodes of these datasets that can be exported.' })
      .optional(),
    cameras: z
      .array(z.string().min(1).max(MAX_CAMERA_NAME))
      .max(MAX_CAMERAS)
      .refine(distinct, 'must not repeat a camera')
      .meta({ description: 'Default: the cameras that all episodes have.', examples: [['front']] })
      .optional(),
    gaps: DatasetGaps.meta({
      description:
        'The treatment of an episode whose recording lacks more than one second of it. leave_out (the default): it is not in the dataset. cut: each part of at least one second between the gaps is an episode; only the last one has the result. include: values and pictures hold over the gaps.',
      examples: ['leave_out'],
    }).optional(),
    alignment: DatasetAlignment.meta({
      description:
        'Which sample of the telemetry a row has. causal (the default): the last one at or before it, which is all that a policy knows. nearest: for numbers the nearest one, up to 500 ms later.',
      examples: ['causal'],
    }).optional(),
    align: DatasetAlign.meta({
      description:
        'The time of a command. time (the default): when the robot got it. seen: when the picture that its operator saw was captured, so that a row has the action that was taken on seeing its picture; of commands that name no picture, as time.',
      examples: ['time'],
    }).optional(),
    unfinished: z
      .boolean()
      .meta({
        description: 'Whether to export episodes that were not ended before their session. Default: false.',
        examples: [false],
      })
      .optional(),
  })
  .refine(
    ({ episode_ids, dataset_ids }) => (episode_ids === undefined) !== (dataset_ids === undefined),
    'needs either episode_ids or dataset_ids',
  )
  .meta({
    id: 'CreateDatasetExport',
    examples: [
      {
        format: 'lerobot_v3',
        name: 'pick-and-place',
        fps: 30,
        episode_ids: ['18d6a4f7-b305-4c9e-a27f-8c50e3d1b964'],
      },
    ],
  })
export type CreateDatasetExport = z.infer<typeof CreateDatasetExport>

export const DatasetExportView = z
  .object({
    id: idOf('datasetExport'),
    name: z.string().meta({ examples: ['pick-and-place'] }),
    format: DatasetExportFormat,
    version: count.meta({ description: 'Counts from 1 for each name.', examples: [1] }),
    status: DatasetExportStatus.meta({ examples: ['READY'] }),
    progress: z.number().meta({ description: 'From 0 to 1.', examples: [1] }),
    fps: count.meta({ description: 'Rows for each second.', examples: [30] }),
    episodes: count.meta({ description: 'Episodes in the stored files so far.', examples: [216] }),
    frames: count.meta({ description: 'Rows in the stored files so far.', examples: [194_400] }),
    size_bytes: count.meta({ examples: [812_400_120] }),
    base_url: z.string().meta({
      description:
        'Path of the files of the newest finished version. Append the path of a file of the dataset.',
      examples: ['/datasets/7c9a2d54-3e61-4b0f-8d27-5a1c6f9e0b34/pick-and-place/resolve/main'],
    }),
    gaps: DatasetGaps.meta({ examples: ['leave_out'] }),
    alignment: DatasetAlignment.meta({ examples: ['causal'] }),
    align: DatasetAlign.meta({ examples: ['time'] }),
    left_out: LeftOut,
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed; null unless FAILED.', examples: [null] }),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'DatasetExport', description: 'A version of a dataset that is made from recorded episodes.' })
export type DatasetExportView = z.infer<typeof DatasetExportView>

export const DatasetExportList = z.object({ exports: z.array(DatasetExportView) })
