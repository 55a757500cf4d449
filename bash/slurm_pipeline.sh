#!/usr/bin/env bash
#SBATCH --job-name=convinse
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --signal=INT@60
# The pipeline as a SLURM job; a job that runs out of time is interrupted, and the next one goes on.
#   sbatch bash/slurm_pipeline.sh kb_text_info config.yml
set -euo pipefail
root=${SLURM_SUBMIT_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
exec bash "$root/run.sh" pipeline "$@"
