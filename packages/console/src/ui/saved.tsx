import { Text } from '@mantine/core'
import { t } from '../texts/texts.ts'

/** Shows that a form was saved and announces it to screen readers. */
export const Saved = ({ when }: { when: boolean }) => (
  <Text size="sm" c="dimmed" role="status">
    {when ? t('ui.saved') : ''}
  </Text>
)
