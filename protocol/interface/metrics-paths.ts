/** Paths of the metrics servers, the part of the access table that a car loads without the rest. */
export const metricsPaths = {
  'car metrics': ['/status', '/metrics'],
  'hub metrics': ['/health', '/metrics'],
} as const;
