import { Avatar, Button, FileButton, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { Problem } from '../ui/states.tsx'

export function AvatarForm() {
  const me = useMe()
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const upload = useMutation({
    mutationFn: (file: File) => {
      const form = new FormData()
      form.set('avatar', file)
      return answerOf(
        rest.POST('/api/auth/avatar', { body: { avatar: file.name }, bodySerializer: () => form }),
      )
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.profile }),
  })
  return (
    <Stack>
      <Group>
        <Avatar
          src={me.avatar_url}
          name={me.display_name}
          alt={t('settings.avatar.alt')}
          size="lg"
          color="blue.9"
          variant="filled"
        />
        <FileButton
          accept="image/png,image/jpeg,image/webp"
          onChange={(file) => file && upload.mutate(file)}
          inputProps={{ 'aria-label': t('settings.avatar.file') }}
        >
          {(button) => (
            <Button {...button} variant="default" loading={upload.isPending}>
              {t('settings.avatar.upload')}
            </Button>
          )}
        </FileButton>
        <Text size="sm" c="dimmed">
          {t('settings.avatar.note')}
        </Text>
      </Group>
      <Problem error={upload.error} />
    </Stack>
  )
}
