/** Files in a folder of a dataset, as LeRobot counts them. */
export const CHUNKS_SIZE = 1_000

/** Where a file is among the files of its kind. */
export interface FilePosition {
  readonly chunkIndex: number
  readonly fileIndex: number
}

/** Returns the position of the n-th file of a kind. */
export const filePosition = (number: number): FilePosition => ({
  chunkIndex: Math.floor(number / CHUNKS_SIZE),
  fileIndex: number % CHUNKS_SIZE,
})

const pad = (value: number) => String(value).padStart(3, '0')
const suffix = ({ chunkIndex, fileIndex }: FilePosition) => `chunk-${pad(chunkIndex)}/file-${pad(fileIndex)}`

export const dataPath = (position: FilePosition): string => `data/${suffix(position)}.parquet`
export const episodesPath = (position: FilePosition): string => `meta/episodes/${suffix(position)}.parquet`
export const videoPath = (key: string, position: FilePosition): string =>
  `videos/${key}/${suffix(position)}.mp4`

/** The same paths as patterns of Python, for readers of the dataset. */
export const PATH_PATTERNS = {
  data: 'data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet',
  video: 'videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4',
} as const
