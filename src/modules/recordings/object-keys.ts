// Keys of the objects of recordings in the storage. Everything of a recording begins with its prefix.

export const RECORDINGS_PREFIX = 'recordings/'

export const recordingPrefix = (recordingId: string): string => `${RECORDINGS_PREFIX}${recordingId}/`

/** Returns the key of the finished file. An attempt to write it has its own, so that two never write the same object. */
export const fileKey = (recordingId: string, attemptId: string): string =>
  `${recordingPrefix(recordingId)}recording-${attemptId}.mcap`

/** Returns the key of a segment. The number has leading zeros, so that keys and numbers have the same order. */
export const segmentKey = (recordingId: string, streamId: string, number: number): string =>
  `${recordingPrefix(recordingId)}segments/${streamId}/${String(number).padStart(8, '0')}.mcap`
