#!/usr/bin/env bash
#SBATCH --job-name=convinse
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=16G
#SBATCH --time=04:00:00
#SBATCH --signal=B:INT@60
# A Ray cluster of the nodes of a SLURM job, which ends with it, and a command on it; the folder must be on a disk that all nodes have.
# A job that runs out of time is interrupted, and the next one goes on.
#   CONVINSE_EXTRAS=ray bash run.sh --version      # once, where there is a network
#   sbatch --nodes=8 bash/slurm_ray.sh pipeline --all-sources config.yml
set -euo pipefail
root=${SLURM_SUBMIT_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
ray=${CONVINSE_RAY:-$root/.venv/bin/ray}
port=$((20000 + SLURM_JOB_ID % 10000)) # jobs may share a node
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
own=(--num-cpus="${SLURM_CPUS_PER_TASK:-1}" --disable-usage-stats --block)
export RAY_USAGE_STATS_ENABLED=0 RAY_ADDRESS=$head:$port CONVINSE_EXTRAS=${CONVINSE_EXTRAS:-ray}
# whoever reaches the ports of a cluster runs what they like on it: they need this token
RAY_AUTH_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN

srun --nodes=1 --ntasks=1 --overlap --nodelist="$head" "$ray" start --head --port="$port" --include-dashboard=false "${own[@]}" >&2 &
for _ in $(seq 60); do # seconds, and those of the question
    if "$ray" health-check --address "$RAY_ADDRESS" >/dev/null 2>&1; then break; fi
    sleep 1
done
if [ "$SLURM_NNODES" -gt 1 ]; then # they get work as they join
    srun --nodes=$((SLURM_NNODES - 1)) --ntasks=$((SLURM_NNODES - 1)) --overlap --exclude="$head" "$ray" start --address="$RAY_ADDRESS" "${own[@]}" >&2 &
fi
cd "$root"
exec bash "$root/run.sh" "$@" --on ray
