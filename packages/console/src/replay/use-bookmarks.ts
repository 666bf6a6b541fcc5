import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import type { Bookmark } from '../recording/recordings.ts'
import { useRecordingsApi } from '../recording/use-recordings.ts'

const NO_BOOKMARKS: readonly Bookmark[] = []

/** Queries the bookmarks of a recording, with the actions on them. */
export function useBookmarks(recordingId: string) {
  const api = useRecordingsApi()
  const queries = useQueryClient()
  const meId = useMe().id
  const queryKey = [...keys.recordings, recordingId, 'bookmarks']
  const query = useQuery({ queryKey, queryFn: () => api.bookmarks(recordingId) })
  const settle = () => queries.invalidateQueries({ queryKey })
  return {
    bookmarks: query.data?.bookmarks ?? NO_BOOKMARKS,
    actions: {
      add: (atMs: number, label: string) =>
        api.addBookmark(recordingId, { at: new Date(atMs).toISOString(), label }).finally(settle),
      remove: (id: string) => api.removeBookmark(recordingId, id).finally(settle),
      mayRemove: ({ bookmark }: { bookmark: Bookmark }) => bookmark.user_id === meId,
    },
  }
}
