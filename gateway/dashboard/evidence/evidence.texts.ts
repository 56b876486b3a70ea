/** Texts of the evidence of a refund case or a dispute. */
export const evidenceTexts = {
  'pt-BR': {
    heading: 'Evidências',
    hint: 'Os arquivos anexados, do mais antigo ao mais recente.',
    none: 'Nenhum arquivo anexado.',
    elsewhere: (count: number) =>
      count === 1
        ? 'A solicitação inclui mais uma evidência, que não é exibida aqui.'
        : `A solicitação inclui mais ${count} evidências, que não são exibidas aqui.`,
    name: 'Arquivo',
    kind: 'Tipo',
    size: 'Tamanho',
    added: 'Anexado em',
    add: 'Anexar arquivo',
    file: 'Arquivo',
    fileHint:
      'PDF, JPEG ou PNG de até 5 MB. Você pode anexar até 10 arquivos, e eles não podem ser removidos.',
    saved: 'Arquivo anexado.',
    missing: 'Escolha um arquivo.',
    refusals: {
      EVIDENCE_EMPTY: 'O arquivo está vazio.',
      EVIDENCE_TOO_LARGE: 'O arquivo tem mais de 5 MB.',
      EVIDENCE_TYPE_NOT_SUPPORTED: 'O arquivo não é um PDF, JPEG ou PNG.',
      EVIDENCE_INCOMPLETE: 'O arquivo está incompleto. Salve-o novamente e tente de novo.',
      EVIDENCE_LIMIT_REACHED: 'Já há 10 arquivos anexados, o máximo permitido.',
      EVIDENCE_STORAGE_FULL: 'Os arquivos do seu ambiente de testes já ocupam 200 MB, o máximo permitido.',
      REFUND_CASE_STATE: 'Este caso já foi decidido e não aceita mais arquivos.',
      DISPUTE_CLOSED: 'Esta disputa foi encerrada e não aceita mais arquivos.',
      DISPUTE_RESPONDED: 'Esta disputa já tem uma resposta e não aceita mais arquivos.',
      DISPUTE_RESPONSE_OVERDUE: 'O prazo desta disputa venceu, e ela não aceita mais arquivos.',
      TOO_MANY_UPLOADS: 'Muitos arquivos estão sendo enviados. Tente novamente em instantes.',
      IDEMPOTENCY_KEY_REUSED: 'Este formulário já foi enviado com outro arquivo. Recarregue a página.',
    },
  },
  en: {
    heading: 'Evidence',
    hint: 'The attached files, oldest first.',
    none: 'No files attached.',
    elsewhere: (count: number) =>
      count === 1
        ? 'One more piece of evidence came with the request and is not shown here.'
        : `${count} more pieces of evidence came with the request and are not shown here.`,
    name: 'File',
    kind: 'Type',
    size: 'Size',
    added: 'Attached',
    add: 'Attach a file',
    file: 'File',
    fileHint: 'PDF, JPEG or PNG of up to 5 MB. You can attach up to 10 files, and they cannot be removed.',
    saved: 'File attached.',
    missing: 'Choose a file.',
    refusals: {
      EVIDENCE_EMPTY: 'The file is empty.',
      EVIDENCE_TOO_LARGE: 'The file is larger than 5 MB.',
      EVIDENCE_TYPE_NOT_SUPPORTED: 'The file is not a PDF, JPEG or PNG.',
      EVIDENCE_INCOMPLETE: 'The file is incomplete. Save it again and try once more.',
      EVIDENCE_LIMIT_REACHED: 'There are already 10 files, which is the maximum.',
      EVIDENCE_STORAGE_FULL: 'The files in your sandbox already take up 200 MB, which is the maximum.',
      REFUND_CASE_STATE: 'This case has been decided and no longer accepts files.',
      DISPUTE_CLOSED: 'This dispute is closed and no longer accepts files.',
      DISPUTE_RESPONDED: 'This dispute already has a response and no longer accepts files.',
      DISPUTE_RESPONSE_OVERDUE: 'This dispute is past its due date and no longer accepts files.',
      TOO_MANY_UPLOADS: 'Too many files are being uploaded. Try again shortly.',
      IDEMPOTENCY_KEY_REUSED: 'This form has already been submitted with a different file. Reload the page.',
    },
  },
};
