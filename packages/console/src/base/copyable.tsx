import { Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core'
import { t } from '../texts/texts.ts'

// Apart from the dialog of secrets: the home page shows a command, and loads no dialogs.

/** Renders a value to select or to copy with a button, such as a secret or a command. */
export const CopyableSecret = ({ label, value }: { label: string; value: string }) => (
  <Stack gap={4}>
    <Text fw={600} size="sm">
      {label}
    </Text>
    <Group wrap="nowrap" align="flex-start">
      <Code block flex={1} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} aria-live="polite">
            {copied ? t('ui.secret.copied') : t('ui.secret.copy')}
          </Button>
        )}
      </CopyButton>
    </Group>
  </Stack>
)
